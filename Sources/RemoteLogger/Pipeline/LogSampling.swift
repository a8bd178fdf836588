/// Keeps only a share of the records. The decision precedes the message's evaluation, and each kept record has the rate as
/// `log.sampling.rate` in its metadata, so that counts can be restored.
///
///     LogPipeline(sinks: [shipper], sampling: LogSampling(rate: 0.1, rates: [.trace: 0.01]))
///
/// Records of ``LogLevel/error`` and above are always kept. Records of one trace are kept or dropped together, by the last 56 bits of its
/// id, which must be random (W3C Trace Context, level 2): services with equal rates keep the same traces. Records without a trace are
/// sampled individually. Dropped records get no number; ``LogPipeline/sampledOut`` counts them.
public struct LogSampling: Sendable, Hashable {
    /// The metadata name of a record's sampling rate.
    public static let key = "log.sampling.rate"
    /// Keeps everything.
    public static let none = LogSampling(rate: 1)

    /// The rates of the levels, from 0 (nothing) to 1 (everything).
    private let rates: [Double]

    /// Creates a sampling with rates from 0 (nothing) to 1 (everything); other values are clamped.
    ///
    /// - Parameters:
    ///   - rate: The rate of every level without its own.
    ///   - levels: The rates of single levels. `error` and `critical` always have 1.
    public init(rate: Double, rates levels: [LogLevel: Double] = [:]) {
        rates = LogLevel.allCases.map { level in
            guard level < .error else { return 1 }
            let rate = levels[level] ?? rate
            return rate > 0 ? min(1, rate) : 0
        }
    }

    /// The rate of a level.
    public func rate(of level: LogLevel) -> Double { rates[Int(level.rawValue)] }

    /// Whether everything is kept.
    var keepsEverything: Bool { rates.allSatisfy { $0 >= 1 } }

    /// Whether a record is kept.
    ///
    /// - Parameter number: Any number, used once, that decides for records without a trace.
    public func keeps(_ level: LogLevel, trace: TraceContext?, number: UInt64) -> Bool {
        let rate = rate(of: level)
        guard rate < 1 else { return true }
        guard rate > 0 else { return false }
        let randomness = (trace?.traceLow ?? Self.mixed(number)) & (1 << 56 - 1)
        // OpenTelemetry's consistent sampling: values at or above the threshold are kept.
        return Double(randomness) >= (1 - rate) * Double(1 << 56 as UInt64)
    }

    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
