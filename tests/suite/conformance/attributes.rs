//! Attributes: every sample of the record is answered as the real machine answered it.

use std::ptr;

use cuda_sys::{
    CUDA_KERNEL_NODE_PARAMS, CUgraphNode, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchConfig, CUresult, CUstream,
};
use serde_json::Value;

use tests::Machine;

use crate::raw::{Driver, Rows, call, made, ok, stream, trials};

trials! {
    captured_kernels_take_their_streams_priority,
}

/// Those for the machine that the record is of.
pub(crate) const RECORDED: Rows = &[
    ("streams_answer_as_recorded", streams_answer_as_recorded),
    ("kernel_nodes_answer_as_recorded", kernel_nodes_answer_as_recorded),
    ("launches_answer_as_recorded", launches_answer_as_recorded),
];

const RECORD: &str = include_str!("../../../docs/observations/h200-580.159.04.json");

/// Whether the record is of this machine, or of one with the same device and driver.
pub(crate) fn are_recorded(machine: &Machine) -> Result<(), String> {
    let record: Value = serde_json::from_str(RECORD).unwrap();
    let (device, driver) = (record["device"].as_str().unwrap(), record["driver"].as_str().unwrap());
    let name = machine.device.name().map_err(|error| error.to_string())?;
    if machine.is_simulated() || (name == device && machine.driver.to_string() == driver) {
        return Ok(());
    }
    Err(format!("the record is of {device} with a driver for CUDA {driver}"))
}

/// The samples of a place that need nothing but their value, and no address in it.
fn samples(surface: &str) -> Vec<(u32, Value)> {
    let record: Value = serde_json::from_str(RECORD).unwrap();
    let observed =
        record["observed"].as_array().unwrap().iter().filter(|observation| observation["surface"] == surface);
    let samples = observed.flat_map(|observation| {
        let id = u32::try_from(observation["id"].as_u64().unwrap()).unwrap();
        observation["samples"].as_array().unwrap().iter().map(move |sample| (id, sample.clone()))
    });
    let stands_alone = |sample: &Value| {
        sample.get("prerequisite").is_none()
            && !sample["set"].as_str().unwrap().contains('@')
            && sample["value"] != "never set"
    };
    samples.filter(|(_, sample)| stands_alone(sample)).collect()
}

fn value(sample: &Value) -> CUlaunchAttributeValue {
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    for (index, pair) in sample["set"].as_str().unwrap().as_bytes().chunks(2).enumerate() {
        let byte = u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        // SAFETY: `pad` spans the whole union, which is initialised.
        unsafe { value.pad[index] = byte.cast_signed() };
    }
    value
}

fn name(code: CUresult) -> String {
    let mut name = ptr::null();
    ok!(cuGetErrorName(code, &raw mut name));
    // SAFETY: a C string, says the driver.
    unsafe { std::ffi::CStr::from_ptr(name) }.to_str().unwrap().to_owned()
}

/// What reading gives, as the record shows it.
fn read(get: impl Fn(*mut CUlaunchAttributeValue) -> CUresult) -> Option<String> {
    let bytes = [0xa5_u8, 0x5a].map(|filler| {
        let mut value = CUlaunchAttributeValue { pad: [filler.cast_signed(); 64] };
        let code = get(&raw mut value);
        // SAFETY: as in `value`.
        (code == CUresult::CUDA_SUCCESS).then(|| unsafe { value.pad }.map(i8::cast_unsigned))
    });
    let [Some(first), Some(second)] = bytes else { return None };
    let shown = first.iter().zip(&second).map(|(a, b)| if a == b { format!("{a:02x}") } else { "..".to_owned() });
    Some(shown.collect::<String>().trim_end_matches('.').to_owned())
}

fn kernel_node(driver: &Driver) -> (cuda_sys::CUgraph, CUgraphNode) {
    let graph = made!(cuGraphCreate(0));
    let parameters = CUDA_KERNEL_NODE_PARAMS {
        func: driver.kernel(c"nothing"),
        gridDimX: 16,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        ..Default::default()
    };
    (graph, made!(cuGraphAddKernelNode(graph, ptr::null(), 0, &raw const parameters)))
}

fn launch(driver: &Driver, stream: CUstream, id: u32, value: CUlaunchAttributeValue) -> CUresult {
    let mut attribute = CUlaunchAttribute { id: CUlaunchAttributeID(id), pad: [0; 4], value };
    let config = CUlaunchConfig {
        gridDimX: 16,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: stream,
        attrs: &raw mut attribute,
        numAttrs: 1,
        ..Default::default()
    };
    call!(cuLaunchKernelEx(&raw const config, driver.kernel(c"nothing"), ptr::null_mut(), ptr::null_mut()))
}

fn streams_answer_as_recorded(_: &Driver) {
    let mut asked = 0;
    for (id, sample) in samples("stream_set") {
        let (stream, value, attribute) = (stream(), value(&sample), CUlaunchAttributeID(id));
        let code = call!(cuStreamSetAttribute(stream, attribute, &raw const value));
        assert_eq!(name(code), sample["status"].as_str().unwrap(), "{id}: {sample}");
        if let Some(expected) = sample["read_back"].as_str() {
            let found = read(|value| call!(cuStreamGetAttribute(stream, attribute, value)));
            assert_eq!(found.as_deref(), Some(expected), "{id}: {sample}");
        }
        asked += 1;
    }
    assert!(asked > 50, "{asked} samples");
}

fn kernel_nodes_answer_as_recorded(driver: &Driver) {
    let mut asked = 0;
    for (id, sample) in samples("node_set") {
        let ((graph, node), mut value, attribute) = (kernel_node(driver), value(&sample), CUlaunchAttributeID(id));
        let code = call!(cuGraphKernelNodeSetAttribute(node, attribute, &raw mut value));
        assert_eq!(name(code), sample["status"].as_str().unwrap(), "{id}: {sample}");
        if let Some(expected) = sample["read_back"].as_str().filter(|expected| !expected.contains('#')) {
            let found = read(|value| call!(cuGraphKernelNodeGetAttribute(node, attribute, value)));
            assert_eq!(found.as_deref(), Some(expected), "{id}: {sample}");
        }
        ok!(cuGraphDestroy(graph));
        asked += 1;
    }
    assert!(asked > 50, "{asked} samples");
}

fn launches_answer_as_recorded(driver: &Driver) {
    let stream = stream();
    for (id, sample) in samples("launch") {
        assert_eq!(
            name(launch(driver, stream, id, value(&sample))),
            sample["status"].as_str().unwrap(),
            "{id}: {sample}"
        );
    }
    for (id, sample) in samples("launch_capturing") {
        crate::raw::begin_capture(stream);
        assert_eq!(
            name(launch(driver, stream, id, value(&sample))),
            sample["status"].as_str().unwrap(),
            "{id}: {sample}"
        );
        let mut graph = ptr::null_mut();
        let survived = call!(cuStreamEndCapture(stream, &raw mut graph)) == CUresult::CUDA_SUCCESS;
        assert_eq!(Some(survived), sample["capture_survived"].as_bool(), "{id}: {sample}");
        if survived {
            ok!(cuGraphDestroy(graph));
        }
    }
}

fn captured_kernels_take_their_streams_priority(driver: &Driver) {
    let stream = made!(cuStreamCreateWithPriority(1, -5));
    let nothing = driver.kernel(c"nothing");
    let mut priority = CUlaunchAttributeValue { pad: [0; 64] };
    let captured = |launch: &dyn Fn() -> CUresult| {
        crate::raw::begin_capture(stream);
        assert_eq!(launch(), CUresult::CUDA_SUCCESS);
        let graph = crate::raw::end_capture(stream);
        let node = crate::raw::nodes(graph)[0];
        let found = read(|value| call!(cuGraphKernelNodeGetAttribute(node, CUlaunchAttributeID(8), value)));
        ok!(cuGraphDestroy(graph));
        found.unwrap()
    };
    assert_eq!(captured(&|| crate::raw::launch(stream, nothing, &mut [])), "fbffffff");
    assert_eq!(captured(&|| launch(driver, stream, 8, CUlaunchAttributeValue { pad: [0; 64] })), "00000000");
    priority.pad = [0; 64];
    ok!(cuStreamSetAttribute(stream, CUlaunchAttributeID(8), &raw const priority));
    let mut found = 99;
    ok!(cuStreamGetPriority(stream, &raw mut found));
    assert_eq!(found, 0);
}
