//! A network as a graph of ONNX operators, from observations to beliefs.
//!
//! The input is what the network sees: stacked frames, bytes scaled, channels innermost. ONNX has channels before height
//! and width, so images are transposed on their way in, and back where they are flattened.

mod messages;

use super::origin;
use crate::algorithm::{LocalError, Neighbours, Readout, Unseen};
use crate::{Agent, Error, Result};
use adfq_files::protobuf::Message;
use adfq_nn::{Head, Layer, Padding, Spec, Tensor};
use messages::{choices, entry, floats, int, ints, node, operator_set, rows, sizes, text};

/// The operators are those of this version, which every runtime of today has.
const OPSET: u64 = 13;
/// The version of the file format that came with it.
const IR_VERSION: u64 = 7;
/// The name of the input.
const INPUT: &str = "observation";

/// The online network as ONNX. The input `observation` has a row for each observation. The outputs are `mean`, the mean of
/// Q(s,a) for each action; `sd`, its standard deviation, where the algorithm has beliefs; and `action`, the first with the
/// largest mean.
///
/// An error if the algorithm's beliefs are no function of its network's outputs.
pub fn onnx(agent: &Agent) -> Result<Vec<u8>> {
    let learner = agent.learner();
    let Some(readout) = learner.algorithm.readout() else {
        return Err(Error::NoReadout { agent: agent.config().agent.clone() });
    };
    let (network, config) = (learner.network(), agent.config());
    let spec = network.spec();
    let mut graph =
        Graph { params: &learner.online, tensors: network.tensors(), nodes: vec![], initial: vec![] };
    let features = graph.layers(spec);
    let groups = graph.head(&spec.head, &features);
    let groups = graph.in_rewards(groups, learner.unit.size());
    let outputs = graph.read(&readout, &groups, spec);
    let name = format!("{} in {}", config.agent, config.env);
    let model = Message::default()
        .integer(1, IR_VERSION)
        .bytes(2, b"adfq")
        .bytes(3, env!("CARGO_PKG_VERSION").as_bytes())
        .message(7, graph.encode(&name, rows(INPUT, &spec.input), outputs))
        .message(8, operator_set(OPSET))
        .message(14, entry("adfq", &origin(agent).to_string()));
    Ok(model.into_bytes())
}

/// A graph while its nodes are added one after the other. Values have the names of the nodes that give them.
struct Graph<'a> {
    params: &'a [f32],
    tensors: &'a [Tensor],
    nodes: Vec<Message>,
    /// Tensors that are part of the file.
    initial: Vec<Message>,
}

impl Graph<'_> {
    fn encode(self, name: &str, input: Message, outputs: Vec<Message>) -> Message {
        let all = |graph: Message, field: u64, parts: Vec<Message>| {
            parts.into_iter().fold(graph, |graph, part| graph.message(field, part))
        };
        let graph = all(Message::default(), 1, self.nodes).bytes(2, name.as_bytes());
        let graph = all(graph, 5, self.initial).message(11, input);
        all(graph, 12, outputs)
    }

    /// Adds a node with one output, and returns the output's name.
    fn node(&mut self, op: &str, inputs: &[&str], attributes: Vec<Message>) -> String {
        let name = format!("{}_{}", op.to_lowercase(), self.nodes.len());
        self.nodes.push(node(op, inputs, &[&name], attributes));
        name
    }

    /// Adds a tensor of the network, and returns its name.
    fn parameter(&mut self, name: &str) -> String {
        let tensor =
            self.tensors.iter().find(|tensor| tensor.name == name).expect("the layout names all tensors");
        let numbers = &self.params[tensor.range.clone()];
        let written = match tensor.shape[..] {
            [height, width, from, to] => {
                let shape = [to, from, height, width];
                floats(name, &shape, &outermost_last(numbers, height * width, from, to))
            }
            _ => floats(name, &tensor.shape, numbers),
        };
        self.initial.push(written);
        name.to_owned()
    }

    fn constant(&mut self, name: &str, value: f32) -> String {
        self.initial.push(floats(name, &[], &[value]));
        name.to_owned()
    }

    /// x W + b.
    fn dense(&mut self, name: &str, input: &str) -> String {
        let [weight, bias] = ["weight", "bias"].map(|part| self.parameter(&format!("{name}.{part}")));
        self.node("Gemm", &[input, &weight, &bias], vec![])
    }

    /// Rows of mean 0 and variance 1.
    fn normal(&mut self, name: &str, sums: &str) -> String {
        let over_row = || vec![ints("axes", &[1]), int("keepdims", 1)];
        let mean = self.node("ReduceMean", &[sums], over_row());
        let centred = self.node("Sub", &[sums, &mean], vec![]);
        let squares = self.node("Mul", &[&centred, &centred], vec![]);
        let variance = self.node("ReduceMean", &[&squares], over_row());
        let epsilon = self.constant(&format!("{name}.epsilon"), Layer::EPSILON);
        let variance = self.node("Add", &[&variance, &epsilon], vec![]);
        let sd = self.node("Sqrt", &[&variance], vec![]);
        self.node("Div", &[&centred, &sd], vec![])
    }

    fn relu(&mut self, input: &str) -> String {
        self.node("Relu", &[input], vec![])
    }

    /// All hidden layers. The result is flat.
    fn layers(&mut self, spec: &Spec) -> String {
        let (mut value, mut is_image, mut transposed) = (INPUT.to_owned(), spec.input.len() == 3, false);
        for (i, layer) in spec.layers.iter().enumerate() {
            let name = format!("layer{i}");
            value = match *layer {
                Layer::Conv { kernel, stride, padding, .. } => {
                    if !transposed {
                        value = self.node("Transpose", &[&value], vec![ints("perm", &[0, 3, 1, 2])]);
                        transposed = true;
                    }
                    self.conv(&name, &value, kernel, stride, padding)
                }
                Layer::Dense { normalised, .. } => {
                    value = self.flat(value, is_image, transposed);
                    (is_image, transposed) = (false, false);
                    let sums = self.dense(&name, &value);
                    if normalised { self.normal(&name, &sums) } else { sums }
                }
            };
            value = self.relu(&value);
        }
        self.flat(value, is_image, transposed)
    }

    fn conv(&mut self, name: &str, input: &str, kernel: usize, stride: usize, padding: Padding) -> String {
        let [weight, bias] = ["weight", "bias"].map(|part| self.parameter(&format!("{name}.{part}")));
        // The odd zero below and to the right is ONNX's SAME_UPPER.
        let pad = match padding {
            Padding::Valid => "VALID",
            Padding::Same => "SAME_UPPER",
        };
        let attributes = vec![
            ints("kernel_shape", &[kernel, kernel]),
            ints("strides", &[stride, stride]),
            text("auto_pad", pad),
        ];
        self.node("Conv", &[input, &weight, &bias], attributes)
    }

    /// A row for each observation, an image's channels fastest.
    fn flat(&mut self, mut value: String, is_image: bool, transposed: bool) -> String {
        if transposed {
            value = self.node("Transpose", &[&value], vec![ints("perm", &[0, 2, 3, 1])]);
        }
        if is_image { self.node("Flatten", &[&value], vec![int("axis", 1)]) } else { value }
    }

    /// The outputs of each group, a number for each action.
    fn head(&mut self, head: &Head, features: &str) -> Vec<String> {
        if head.dueling.is_some() {
            return (0..head.groups).map(|group| self.dueling(group, features)).collect();
        }
        let all = self.dense("head", features);
        if head.groups == 1 {
            return vec![all];
        }
        self.initial.push(sizes("group_sizes", &vec![head.actions; head.groups]));
        let groups: Vec<String> = (0..head.groups).map(|group| format!("group_{group}")).collect();
        let names: Vec<&str> = groups.iter().map(String::as_str).collect();
        self.nodes.push(node("Split", &[&all, "group_sizes"], &names, vec![int("axis", 1)]));
        groups
    }

    /// v + aᵢ - mean(a).
    fn dueling(&mut self, group: usize, features: &str) -> String {
        let [value, advantage] = ["value", "advantage"].map(|stream| {
            let hidden = self.dense(&format!("group{group}.{stream}.hidden"), features);
            let hidden = self.relu(&hidden);
            self.dense(&format!("group{group}.{stream}.out"), &hidden)
        });
        let mean = self.node("ReduceMean", &[&advantage], vec![ints("axes", &[1]), int("keepdims", 1)]);
        let centred = self.node("Sub", &[&advantage, &mean], vec![]);
        self.node("Add", &[&value, &centred], vec![])
    }

    /// μ and ρ = -log √c in the unit of rewards, where the network has another.
    fn in_rewards(&mut self, groups: Vec<String>, unit: f32) -> Vec<String> {
        if unit == 1.0 {
            return groups;
        }
        let [size, log] =
            [("unit", unit), ("log_unit", libm::logf(unit))].map(|(name, value)| self.constant(name, value));
        let mut in_rewards = vec![self.node("Mul", &[&groups[0], &size], vec![])];
        in_rewards.extend(groups[1..].iter().map(|rho| self.node("Sub", &[rho, &log], vec![])));
        in_rewards
    }

    /// What is believed, and what is done: the outputs of the graph.
    fn read(&mut self, readout: &Readout, groups: &[String], spec: &Spec) -> Vec<Message> {
        let (actions, is_image) = (spec.head.actions, spec.input.len() == 3);
        let mean = match readout {
            Readout::Gaussian { off, .. } if *off != 0.0 => {
                let off = self.constant("taken_off", *off);
                node("Sub", &[&groups[0], &off], &["mean"], vec![])
            }
            _ => node("Identity", &[&groups[0]], &["mean"], vec![]),
        };
        self.nodes.push(mean);
        let mut outputs = vec![rows("mean", &[actions])];
        if let Readout::Gaussian { ratio, min_var, max_var, local, unseen, .. } = readout {
            let [minus_two, least, most, ratio] =
                [("minus_two", -2.0), ("min_var", *min_var), ("max_var", *max_var), ("ratio", *ratio)]
                    .map(|(name, value)| self.constant(name, value));
            let log_var = self.node("Mul", &[&groups[1], &minus_two], vec![]);
            let mut var = self.node("Exp", &[&log_var], vec![]);
            if let Some((local, widest)) = local {
                let widest = self.constant("widest", *widest);
                let own = self.node("Min", &[&var, &widest], vec![]);
                let size = self.expected_error(local, &groups[0], &own);
                var = self.node("Mul", &[&size, &size], vec![]);
            }
            let var = self.node("Mul", &[&var, &ratio], vec![]);
            let mut var = self.node("Clip", &[&var, &least, &most], vec![]);
            if let Some(unseen) = unseen {
                let added = self.added_where_unseen(unseen, &groups[0], is_image);
                var = self.node("Add", &[&var, &added], vec![]);
            }
            self.nodes.push(node("Sqrt", &[&var], &["sd"], vec![]));
            outputs.push(rows("sd", &[actions]));
        }
        self.nodes.push(node("ArgMax", &["mean"], &["action"], vec![int("axis", 1), int("keepdims", 0)]));
        outputs.push(choices("action"));
        outputs
    }

    /// ē(μ, c): what lies at the knots around, each with its share. With the shares u of means and w of variances, one for each
    /// knot, it is u M w.
    fn expected_error(&mut self, local: &LocalError, mean: &str, var: &str) -> String {
        let [means, vars] = local.knots();
        let [up, right] = [("means", means, mean), ("vars", vars, var)]
            .map(|(name, knots, value)| self.shares(name, knots, value));
        self.initial.push(floats("error_sizes", &[means.len(), vars.len()], local.sizes()));
        let across = self.node("MatMul", &[&up, "error_sizes"], vec![]);
        let parts = self.node("Mul", &[&across, &right], vec![]);
        self.initial.push(sizes("last_axis", &[2]));
        self.node("ReduceSum", &[&parts, "last_axis"], vec![int("keepdims", 0)])
    }

    /// w (S² + (μ - m)²).
    fn added_where_unseen(&mut self, unseen: &Unseen, mean: &str, is_image: bool) -> String {
        let weight = self.unseen(&unseen.neighbours, is_image);
        let [centre, spread] = [("values_mean", unseen.mean), ("values_var", unseen.var)]
            .map(|(name, value)| self.constant(name, value));
        let off = self.node("Sub", &[mean, &centre], vec![]);
        let square = self.node("Mul", &[&off, &off], vec![]);
        let prior = self.node("Add", &[&square, &spread], vec![]);
        self.node("Mul", &[&prior, &weight], vec![])
    }

    /// w = max(0, 1 - q²/d²), where d is the distance from the nearest of the points.
    fn unseen(&mut self, neighbours: &Neighbours, is_image: bool) -> String {
        let (width, points) = (neighbours.offsets.len(), neighbours.points());
        self.initial.push(floats(
            "place_weight",
            &[neighbours.weights.len() / width, width],
            &neighbours.weights,
        ));
        self.initial.push(floats("place_bias", &[width], &neighbours.offsets));
        self.initial.push(floats("points", &[points.len() / width, width], &points));
        let [least, usual, one] =
            [("least_distance", Neighbours::LEAST), ("usual_distance", neighbours.usual()), ("one", 1.0)]
                .map(|(name, value)| self.constant(name, value));
        for (name, axis) in [("points_axis", 1), ("numbers_axis", 2)] {
            self.initial.push(sizes(name, &[axis]));
        }
        let observation = self.flat(INPUT.to_owned(), is_image, false);
        let place = self.node("Gemm", &[&observation, "place_weight", "place_bias"], vec![]);
        let place = self.node("Unsqueeze", &[&place, "points_axis"], vec![]);
        let apart = self.node("Sub", &[&place, "points"], vec![]);
        let squares = self.node("Mul", &[&apart, &apart], vec![]);
        let distances = self.node("ReduceSum", &[&squares, "numbers_axis"], vec![int("keepdims", 0)]);
        let nearest = self.node("ReduceMin", &[&distances], vec![ints("axes", &[1]), int("keepdims", 1)]);
        let nearest = self.node("Max", &[&nearest, &least], vec![]);
        let near = self.node("Div", &[&usual, &nearest], vec![]);
        let far = self.node("Sub", &[&one, &near], vec![]);
        self.relu(&far)
    }

    /// The share that each knot has in a value. The place p among the knots is the sum of how far the value is on the way from each
    /// one to the next, between 0 and 1, and the share of knot i is max(0, 1 - |p - i|).
    fn shares(&mut self, name: &str, knots: &[f32], value: &str) -> String {
        let last = knots.len() - 1;
        let steep = |pair: &[f32]| (1.0 / (pair[1] - pair[0])).min(1e30);
        let slopes: Vec<f32> = knots.windows(2).map(steep).collect();
        let numbers: Vec<f32> = (0..=last).map(|i| i as f32).collect();
        let [from, slope, number] = ["from", "slope", "number"].map(|part| format!("{name}_{part}"));
        self.initial.push(floats(&from, &[last], &knots[..last]));
        self.initial.push(floats(&slope, &[last], &slopes));
        self.initial.push(floats(&number, &[last + 1], &numbers));
        let (axis, zero, one) = (format!("{name}_axis"), format!("{name}_zero"), format!("{name}_one"));
        self.initial.push(sizes(&axis, &[2]));
        let [zero, one] = [(&zero, 0.0), (&one, 1.0)].map(|(name, value)| self.constant(name, value));
        let value = self.node("Unsqueeze", &[value, &axis], vec![]);
        let beyond = self.node("Sub", &[&value, &from], vec![]);
        let way = self.node("Mul", &[&beyond, &slope], vec![]);
        let way = self.node("Clip", &[&way, &zero, &one], vec![]);
        let place = self.node("ReduceSum", &[&way, &axis], vec![int("keepdims", 1)]);
        let apart = self.node("Sub", &[&place, &number], vec![]);
        let apart = self.node("Abs", &[&apart], vec![]);
        let share = self.node("Sub", &[&one, &apart], vec![]);
        self.node("Relu", &[&share], vec![])
    }
}

/// The weights `[pixel, from, to]` of a convolution as `[to, from, pixel]`.
fn outermost_last(weights: &[f32], pixels: usize, from: usize, to: usize) -> Vec<f32> {
    let at = |o: usize, i: usize, p: usize| weights[(p * from + i) * to + o];
    (0..to).flat_map(|o| (0..from).flat_map(move |i| (0..pixels).map(move |p| at(o, i, p)))).collect()
}
