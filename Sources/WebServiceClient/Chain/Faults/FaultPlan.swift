import Foundation

/// Which requests of an endpoint fail in tests, how, and how long the others take.
///
///     "createIssue(owner:name:issue:)": .post("/repos/%%0%%/%%1%%/issues").body(.argument(2))
///         .faults(FaultPlan(.times(2, .status(503, retryAfter: 1)), then: .reset(afterBytes: 10))),
///     "search(text:page:)": .get("/search").query("q", .argument(0)).query("page", .argument(1))
///         .faults(FaultPlan(share: 0.1, of: .connectionLost, latency: .logNormal(median: .milliseconds(80), p99: .milliseconds(900)))),
///
/// A plan in a table has no effect unless ``WebServiceClient/WebServiceClient/Configuration/faults`` switches it on, which only a test
/// should do. A mock server of WebServiceTesting takes the same plans.
///
/// Steps count requests, not calls: each attempt, redirect and hedge is a request.
public struct FaultPlan: EndpointAttribute, PortableAttribute, Hashable, Codable {
    /// A number of requests with one outcome.
    public struct Step: Sendable, Hashable, Codable {
        /// The number of requests.
        public let count: Int
        /// What happens to them; `nil` if they succeed.
        public let fault: InjectedFault?

        /// The next requests fail.
        public static func times(_ count: Int, _ fault: InjectedFault) -> Step { Step(count: count, fault: fault) }
        /// The next requests succeed.
        public static func passing(_ count: Int) -> Step { Step(count: count, fault: nil) }
    }

    /// What happens to the first requests, in order.
    public var steps: [Step]
    /// What happens to all requests after the steps; `nil` if they succeed, except for ``share``.
    public var last: InjectedFault?
    /// The share of the requests after the steps that fail with ``fault``, from 0 to 1.
    public var share: Double
    /// What happens to the share of the requests.
    public var fault: InjectedFault?
    /// How long requests wait before they are sent or fail.
    public var latency: LatencyDistribution?

    /// Creates a plan in which the first requests fail by steps, and all later ones with `last`, if it is given.
    public init(_ steps: Step..., then last: InjectedFault? = nil, latency: LatencyDistribution? = nil) {
        self.steps = steps
        self.last = last
        self.latency = latency
        share = 0
    }

    /// Creates a plan in which a share of the requests fails, after steps.
    public init(_ steps: Step..., share: Double, of fault: InjectedFault, latency: LatencyDistribution? = nil) {
        self.steps = steps
        self.share = share
        self.fault = fault
        self.latency = latency
    }

    /// The problems of the plan, each with its fix.
    package var faults: [(problem: String, fix: String)] {
        var faults: [(String, String)] = []
        if let step = steps.first(where: { $0.count < 1 }) {
            faults.append(("it has a step of \(step.count) requests", "use at least 1, or remove the step"))
        }
        if !(0...1).contains(share) { faults.append(("it has the share \(share)", "use a number from 0 to 1")) }
        for fault in steps.compactMap(\.fault) + [last, fault].compactMap(\.self) {
            if let fault = fault.problem { faults.append(fault) }
        }
        if let problem = latency?.problem { faults.append(problem) }
        return faults
    }
}

extension FaultPlan: CustomStringConvertible {
    /// The steps, the share and the latency.
    public var description: String {
        var parts = steps.map { step in "\(step.count) × " + (step.fault.map { "\($0)" } ?? "passing") }
        if let last { parts.append("then \(last)") }
        if let fault { parts.append("\(share) of \(fault)") }
        if let latency { parts.append("latency \(latency)") }
        return "FaultPlan(\(parts.joined(separator: ", ")))"
    }

    package init?(described text: String) {
        guard let content = text.inside("FaultPlan(") else { return nil }
        // The texts of faults and latencies contain commas, too.
        var parts: [String] = []
        for part in content.listed() {
            if let last = parts.indices.last, part.hasPrefix("Retry-After ") || part.hasPrefix("p99 ") {
                parts[last] += ", \(part)"
            } else {
                parts.append(String(part))
            }
        }
        self.init()
        for part in parts {
            if let text = part.inside("latency ", "") {
                guard let latency = LatencyDistribution(described: text) else { return nil }
                self.latency = latency
            } else if let text = part.inside("then ", "") {
                guard let fault = InjectedFault(described: text) else { return nil }
                last = fault
            } else if let (number, text) = part.divided(by: " × ") {
                guard let count = Int(number) else { return nil }
                let fault = InjectedFault(described: text)
                guard fault != nil || text == "passing" else { return nil }
                steps.append(Step(count: count, fault: fault))
            } else if let (number, text) = part.divided(by: " of ") {
                guard let share = Double(number), let fault = InjectedFault(described: text) else { return nil }
                (self.share, self.fault) = (share, fault)
            } else {
                return nil
            }
        }
    }
}

/// A fault of a service or a network that a test injects.
public enum InjectedFault: Sendable, Hashable, Codable, CustomStringConvertible {
    /// A response with this status and without a body, which asks to retry after a number of seconds.
    case status(Int, retryAfter: Int? = nil)
    /// The connection ends before the head of the response.
    case connectionLost
    /// The connection ends gracefully after this number of bytes of the body.
    case cut(afterBytes: Int)
    /// The connection is reset after this number of bytes of the body; with 0, before the head.
    case reset(afterBytes: Int)
    /// No response comes: the request waits for its deadline.
    case noResponse

    /// The fault in Swift's notation.
    public var description: String {
        switch self {
        case .status(let status, let seconds): "status \(status)" + (seconds.map { ", Retry-After \($0)" } ?? "")
        case .connectionLost: "connectionLost"
        case .cut(let count): "cut after \(count) bytes"
        case .reset(let count): "reset after \(count) bytes"
        case .noResponse: "noResponse"
        }
    }

    /// Reads what ``description`` writes; `nil` if the text is another one.
    fileprivate init?(described text: Substring) {
        func integer(_ beginning: String, _ end: String) -> Int? { text.inside(beginning, end).flatMap { Int($0) } }
        if text == "connectionLost" {
            self = .connectionLost
        } else if text == "noResponse" {
            self = .noResponse
        } else if let count = integer("cut after ", " bytes") {
            self = .cut(afterBytes: count)
        } else if let count = integer("reset after ", " bytes") {
            self = .reset(afterBytes: count)
        } else if let status = integer("status ", "") {
            self = .status(status)
        } else if let (number, wait) = text.inside("status ", "")?.divided(by: ", Retry-After "), let status = Int(number),
            let seconds = Int(wait)
        {
            self = .status(status, retryAfter: seconds)
        } else {
            return nil
        }
    }

    fileprivate var problem: (String, String)? {
        switch self {
        case .status(let status, _) where !(200...999).contains(status):
            ("it has the status \(status)", "use a final status, from 200 to 999")
        case .status(_, let seconds?) where seconds < 0: ("it has the Retry-After \(seconds)", "use 0 or more seconds")
        case .cut(let count) where count < 0, .reset(let count) where count < 0:
            ("it ends the connection after \(count) bytes", "use 0 or more bytes")
        default: nil
        }
    }
}

/// How long requests take: a distribution of durations.
public enum LatencyDistribution: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Always the same duration.
    case fixed(Duration)
    /// Any duration between two, with the same probability.
    case uniform(Duration, Duration)
    /// A log-normal distribution, as services usually have it: half of the requests take longer than the median, and one in a hundred
    /// longer than the 99th percentile.
    case logNormal(median: Duration, p99: Duration)

    /// The kind and its durations.
    public var description: String {
        switch self {
        case .fixed(let duration): duration.text
        case .uniform(let low, let high): "\(low.text) to \(high.text)"
        case .logNormal(let median, let p99): "median \(median.text), p99 \(p99.text)"
        }
    }

    /// Reads what ``description`` writes; `nil` if the text is another one.
    fileprivate init?(described text: Substring) {
        if let (first, last) = text.inside("median ", "")?.divided(by: ", p99 "), let median = Duration(text: first),
            let p99 = Duration(text: last)
        {
            self = .logNormal(median: median, p99: p99)
        } else if let (first, last) = text.divided(by: " to "), let low = Duration(text: first), let high = Duration(text: last) {
            self = .uniform(low, high)
        } else if let duration = Duration(text: text) {
            self = .fixed(duration)
        } else {
            return nil
        }
    }

    fileprivate var problem: (String, String)? {
        switch self {
        case .fixed(let duration) where duration < .zero: ("it has the latency \(duration.text)", "use zero or longer")
        case .uniform(let low, let high) where low < .zero || high < low:
            ("it has a latency from \(low.text) to \(high.text)", "use durations from zero, the shorter one first")
        case .logNormal(let median, let p99) where median <= .zero || p99 < median:
            (
                "it has a latency with the median \(median.text) and the 99th percentile \(p99.text)",
                "use a median above zero, and a p99 above it"
            )
        default: nil
        }
    }

    /// Returns a duration of the distribution, at most a hundred years.
    package func sample(using generator: inout some RandomNumberGenerator) -> Duration {
        // Each sample takes two numbers, so that the numbers of later samples don't depend on the kind.
        let (first, second) = (Self.fraction(&generator), Self.fraction(&generator))
        switch self {
        case .fixed(let duration): return max(.zero, duration).bounded
        case .uniform(let low, let high):
            let (low, high) = (Self.seconds(low), Self.seconds(high))
            return Self.duration(low + (max(low, high) - low) * first)
        case .logNormal(let median, let p99):
            let (median, p99) = (Self.seconds(median), Self.seconds(p99))
            guard median > 0, p99 > median else { return Self.duration(median) }
            // A standard normal number by Box and Muller; 2.3263 is the 99th percentile of that distribution.
            let normal = (-2 * log(max(first, .leastNormalMagnitude))).squareRoot() * cos(2 * .pi * second)
            return Self.duration(median * exp(log(p99 / median) / 2.326_347_874 * normal))
        }
    }

    private static func fraction(_ generator: inout some RandomNumberGenerator) -> Double {
        Double(generator.next() >> 11) / Double(1 << 53)
    }

    private static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = max(.zero, duration).bounded.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    private static func duration(_ seconds: Double) -> Duration {
        .nanoseconds(Int64(min(max(seconds, 0), 3e9) * 1e9)).bounded
    }
}

/// The turns of one endpoint's requests in a plan.
package struct FaultTurns: Sendable {
    private let plan: FaultPlan
    private var generator: RepeatableGenerator
    private var step = 0
    private var countOfStep = 0

    /// Begins a plan.
    package init(_ plan: FaultPlan, seed: UInt64, key: String) {
        self.plan = plan
        generator = RepeatableGenerator(seed: seed, name: key)
    }

    /// Returns how long the next request waits, and its fault.
    package mutating func next() -> (delay: Duration, fault: InjectedFault?) {
        let delay = (plan.latency ?? .fixed(.zero)).sample(using: &generator)
        let chance = Double(generator.next() >> 11) / Double(1 << 53)
        while step < plan.steps.count, countOfStep >= plan.steps[step].count { (step, countOfStep) = (step + 1, 0) }
        if step < plan.steps.count {
            countOfStep += 1
            return (delay, plan.steps[step].fault)
        }
        return (delay, plan.last ?? (chance < plan.share ? plan.fault : nil))
    }
}

/// Random numbers that are the same in each run and on every platform (SplitMix64).
package struct RepeatableGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator whose numbers also depend on a name (FNV-1a of its UTF-8).
    package init(seed: UInt64, name: String = "") {
        state = name.utf8.reduce(14_695_981_039_346_656_037 ^ seed) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
