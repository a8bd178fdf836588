import WebServiceClient

/// Which values of a record's metadata are masked, by their names. It happens before any sink sees the record, on by default.
///
/// The standard names are those that the whole library masks: `authorization`, `cookie`, `password`, everything that contains
/// `token` or `secret`, and so on, in any case, also inside dictionaries and arrays. Just `code`, `key` and `sig` are among them, since
/// they carry secrets in sign-in flows; where they don't, show them: `LogRedaction(exceptFor: ["code"])`.
///
/// - Note: In this version names decide; what a message or another value contains isn't searched.
public struct LogRedaction: Sendable {
    /// Masks the standard names.
    public static let standard = LogRedaction()
    /// Masks nothing.
    public static let none = LogRedaction(hidesStandardNames: false)

    private let hidesStandardNames: Bool
    private let hidden: Set<String>
    private let shown: Set<String>
    private let verdicts = Locked<[String: Bool]>([:])

    /// How many names are remembered with their verdicts; more names than that are judged each time.
    private static let memory = 1_024

    /// Masks the standard names and some more.
    ///
    /// - Parameters:
    ///   - hiding: names whose values are masked, too, in any case.
    ///   - showing: names that are never masked, in any case. They win.
    public init(alsoHiding hiding: [String] = [], exceptFor showing: [String] = []) {
        self.init(hidesStandardNames: true, hiding: hiding, showing: showing)
    }

    private init(hidesStandardNames: Bool, hiding: [String] = [], showing: [String] = []) {
        self.hidesStandardNames = hidesStandardNames
        hidden = Set(hiding.map { $0.lowercased() })
        shown = Set(showing.map { $0.lowercased() })
    }

    /// Whether the value of a name is masked.
    public func hides(_ name: String) -> Bool {
        guard hidesStandardNames || !hidden.isEmpty else { return false }
        if let verdict = verdicts.withLock({ $0[name] }) { return verdict }
        let verdict = judge(name)
        verdicts.withLock { verdicts in
            if verdicts.count < Self.memory { verdicts[name] = verdict }
        }
        return verdict
    }

    private func judge(_ name: String) -> Bool {
        let lowered = name.lowercased()
        guard !shown.contains(lowered) else { return false }
        return hidden.contains(lowered) || hidesStandardNames && SecretMask.hides(HTTPFields.Name(name))
    }

    /// The metadata with the values of those names masked.
    public func masked(_ metadata: LogMetadata) -> LogMetadata {
        masked(metadata, depth: 0)
    }

    private func masked(_ metadata: LogMetadata, depth: Int) -> LogMetadata {
        guard metadata.contains(where: { hides($0.key) || Self.isContainer($0.value) }) else { return metadata }
        return metadata.mapValues { key, value in
            hides(key) ? .string(SecretMask.mask) : masked(value, depth: depth)
        }
    }

    /// Below the depth that formats write nothing is kept, hence nothing needs a mask there.
    private func masked(_ value: LogValue, depth: Int) -> LogValue {
        guard Self.isContainer(value) else { return value }
        guard depth < LogValue.maximumDepth else { return .string(LogValue.tooDeep) }
        switch value {
        case .dictionary(let values): return .dictionary(masked(values, depth: depth + 1))
        case .array(let values): return .array(values.map { masked($0, depth: depth + 1) })
        default: return value
        }
    }

    private static func isContainer(_ value: LogValue) -> Bool {
        switch value {
        case .array, .dictionary: true
        default: false
        }
    }
}
