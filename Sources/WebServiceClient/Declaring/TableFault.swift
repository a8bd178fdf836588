/// A fault of a client's table or configuration: the key, the problem and the fix.
public struct TableFault: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults.
    public enum Kind: String, Sendable, CaseIterable {
        /// A key that isn't in the notation of `#function`.
        case malformedKey
        /// A duplicate key.
        case duplicateKey
        /// A key with the name of a member of ``WebServiceClient``: a method with that name would hide it, or be hidden by it.
        case reservedKey
        /// An invalid template.
        case badTemplate
        /// A placeholder or reference that doesn't match an argument.
        case unknownArgument
        /// An unused argument.
        case unusedArgument
        /// An argument that a call must pass, and leaves out.
        case missingArgument
        /// A body for a method that has none, or two bodies.
        case unfitBody
        /// A header name that isn't a token, or a value with control characters, such as CR, LF or NUL.
        case badHeader
        /// A method that isn't a token.
        case badMethod
        /// A service root that isn't an absolute http or https URL.
        case badServiceRoot
        /// Defaults per method with a setting that only the whole class can have.
        case badDefaults
        /// An empty status set.
        case badStatuses
        /// A root inside the payload, for an endpoint that doesn't read the payload.
        case unusedRoot
        /// A root inside the payload with an empty name.
        case badRoot
        /// A parser registered for an invalid media type.
        case badParser
        /// A cache setting that makes no sense, such as a negative lifetime.
        case badCaching
        /// A paging style that makes no sense.
        case badPaging
        /// An invalid trust policy.
        case badTrust
        /// A retry policy, a retry budget or an idempotency key that makes no sense, or a policy that can never repeat the call.
        case badRetry
        /// A policy whose values make no sense, or that has no effect on the endpoint's calls.
        case badPolicy
        /// A limit of the queue, a rate limit, a limit of redirects or bodies, a deadline, or a wait for the network that makes no sense.
        case badLimit
        /// A capability that the transport lacks.
        case missingCapability
    }

    /// The kind of fault.
    public let kind: Kind
    /// The key of the endpoint; `nil` for a fault of the class or the client.
    public let key: String?
    /// The description of the problem.
    public let problem: String
    /// The fix.
    public let fix: String

    /// The owner of a setting, for faults without a key.
    static func owner(_ key: String?) -> String { key == nil ? " of the client or the class" : "" }

    /// Returns the same fault for another key.
    func under(_ key: String) -> TableFault {
        TableFault(kind: kind, key: key, problem: problem, fix: fix)
    }

    /// The key, the problem and the fix on one line.
    public var description: String {
        (key.map { "\"\($0)\": " } ?? "") + problem + "; " + fix
    }
}

/// All faults of a client's table and configuration, or of a call without a table entry. It is the cause of the error that a call to a
/// faulty client throws.
public struct TableFaults: DescribedError, Sendable {
    /// The client's type.
    public let client: String
    /// The faults, in table order.
    public let faults: [TableFault]
    /// The call with the faults, if it has no table entry.
    var call: String?

    /// The faulty item and its faults, one per line.
    public var description: String {
        "\(subject) \(faults.count == 1 ? "a fault" : "\(faults.count) faults"):\n"
            + faults.map { "  - \($0)" }.joined(separator: "\n")
    }

    /// Names the configuration for faults without a key, since service roots and trust policies aren't in the table.
    private var subject: String {
        if let call { return "The call \(call) of \(client) has" }
        let ofConfiguration = faults.count { $0.key == nil }
        guard ofConfiguration > 0 else { return "The table of \(client) has" }
        return ofConfiguration == faults.count
            ? "The configuration of \(client) has" : "The table and the configuration of \(client) have"
    }
}
