/// One fault of a client's table or its configuration: which key, what is wrong, how to mend it.
public struct TableFault: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults.
    public enum Kind: String, Sendable, CaseIterable {
        /// A key that isn't spelled as `#function` spells it.
        case malformedKey
        /// A key that stands there twice.
        case duplicateKey
        /// A key that is the name of a member of ``WebServiceClient`` itself: a method of that name would hide it, or be hidden by it.
        case reservedKey
        /// A template that can't be read.
        case badTemplate
        /// A placeholder or a reference that names no argument.
        case unknownArgument
        /// An argument that nothing uses.
        case unusedArgument
        /// A body with a method that has none, or two bodies.
        case unfitBody
        /// A header name that is no token, or a value with control characters, such as CR, LF or NUL.
        case badHeader
        /// A method that is no token.
        case badMethod
        /// A service root that is no absolute http or https URL.
        case badServiceRoot
        /// A status set that no status is in.
        case badStatuses
        /// A root inside of the payload, with an endpoint that reads no payload.
        case unusedRoot
        /// A root inside of the payload with an empty name.
        case badRoot
        /// A parser that is registered for no media type.
        case badParser
        /// A trust policy that can't be right.
        case badTrust
        /// Something the transport can't do.
        case missingCapability
    }

    /// The kind of fault.
    public let kind: Kind
    /// The key of the endpoint; `nil` for a fault of the class or the client.
    public let key: String?
    /// What is wrong.
    public let problem: String
    /// How to mend it.
    public let fix: String

    /// Whose a setting is, where no key says so.
    static func owner(_ key: String?) -> String { key == nil ? " of the client or the class" : "" }

    /// The same fault under another key.
    func under(_ key: String) -> TableFault {
        TableFault(kind: kind, key: key, problem: problem, fix: fix)
    }

    /// Key, problem and fix in a line.
    public var description: String {
        (key.map { "\"\($0)\": " } ?? "") + problem + "; " + fix
    }
}

/// All faults of a client's table and of its configuration, or of a call that stands in no table. It is the cause of the error that a call to
/// a faulty client throws.
public struct TableFaults: DescribedError, Sendable {
    /// The client's type.
    public let client: String
    /// The faults, in the table's order.
    public let faults: [TableFault]
    /// The call whose own the faults are, where it stands in no table.
    var call: String?

    /// What is at fault, and the faults, one a line.
    public var description: String {
        "\(subject) \(faults.count == 1 ? "a fault" : "\(faults.count) faults"):\n"
            + faults.map { "  - \($0)" }.joined(separator: "\n")
    }

    /// A service root or a trust policy stands in no table: whoever reads of one looks in vain there.
    private var subject: String {
        if let call { return "The call \(call) of \(client) has" }
        let ofConfiguration = faults.count { $0.key == nil }
        guard ofConfiguration > 0 else { return "The table of \(client) has" }
        return ofConfiguration == faults.count
            ? "The configuration of \(client) has" : "The table and the configuration of \(client) have"
    }
}
