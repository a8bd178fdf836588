/// A table compiled for its class: plans by key, and all faults.
final class CompiledTable: Sendable {
    /// The plans by the text of their keys.
    let plans: [String: EndpointPlan]
    /// Descriptors of profiles, whose bare names stand for every method of that base name; compiled when a method calls.
    let bareNames: [String: EndpointDescriptor]
    /// The keys in the table's order, for messages and descriptions.
    let keys: [String]
    let faults: [TableFault]

    /// Compiles a table.
    ///
    /// - Parameters:
    ///   - root: the service root where it has placeholders, else `nil`.
    ///   - methods: the keys of methods that are known already, which bare names must fit.
    init(_ table: EndpointTable, root: String?, methods: [String] = []) {
        var plans: [String: EndpointPlan] = [:]
        var bareNames: [String: EndpointDescriptor] = [:]
        var faults: [TableFault] = []
        var seen: Set<String> = []
        for entry in table.entries {
            if !seen.insert(entry.key).inserted {
                faults.append(
                    TableFault(
                        kind: .duplicateKey, key: entry.key, problem: "the key stands in the table twice",
                        fix: "remove one; methods that differ only in types share a key"))
            }
            if entry.isBareName {
                bareNames[entry.key] = entry.descriptor
                continue
            }
            do {
                let name = try MethodName(entry.key)
                let (plan, found) = EndpointCompiler.compile(entry.descriptor, for: name, root: root)
                plans[name.description] = plan
                faults += found
                if let fault = ReservedKeys.fault(of: name) { faults.append(fault) }
            } catch {
                let fix = error.suggestion.map { "write \"\($0)\"" } ?? "write it like \"repository(owner:name:)\""
                faults.append(TableFault(kind: .malformedKey, key: entry.key, problem: "the key \(error.problem)", fix: fix))
            }
        }
        for key in methods {
            guard let name = try? MethodName(key), let descriptor = bareNames[name.baseName], plans[name.description] == nil else {
                continue
            }
            let (_, found) = EndpointCompiler.compile(descriptor, for: name, root: root)
            faults += found
            if let fault = ReservedKeys.fault(of: name) { faults.append(fault) }
        }
        self.plans = plans
        self.bareNames = bareNames
        self.faults = faults
        keys = table.keys
    }

    /// Compiled tables of classes: each class is compiled once, again for a root with placeholders of its own.
    private struct CacheKey: Hashable {
        let type: ObjectIdentifier
        let root: String?
    }

    private static let cache = Locked<[CacheKey: CompiledTable]>([:])

    /// The compiled table of a class, made at its first use.
    static func of(_ type: WebServiceClient.Type, root: String?) -> CompiledTable {
        let key = CacheKey(type: ObjectIdentifier(type), root: root)
        if let known = cache.withLock({ $0[key] }) { return known }
        let made = CompiledTable(type.endpoints, root: root)
        return cache.withLock { cache in
            if let known = cache[key] { return known }
            cache[key] = made
            return made
        }
    }
}

/// The keys that no endpoint can have, because ``WebServiceClient`` has members of these names.
enum ReservedKeys {
    /// Methods and properties by their names, and what they are called with.
    private static let members: Set<String> = [
        "configuration", "configure(_:)", "profile", "replaceProfile(_:)", "http", "dynamic", "dryRun(_:)", "dryRun(isolation:_:)",
        "verify()", "verify(_:)",
    ]

    /// The fault of a key that is reserved.
    static func fault(of name: MethodName) -> TableFault? {
        let key = name.description
        guard members.contains(key) || isCall(name) || isDynamic(name) else { return nil }
        let labels: [String] = name.labels.isEmpty ? [] : ["for"] + name.labels.dropFirst()
        let example = MethodName(baseName: name.baseName + "Value", labels: labels)
        return TableFault(
            kind: .reservedKey, key: key,
            problem: "the base class has a member \(name.baseName) that is called the same way, and one would be taken for the other",
            fix: "give the method and the key another name, such as \"\(example)\"; a key is never sent")
    }

    /// `call` and `stream` take any number of arguments, and these labels behind them. A method of that name would be what the other
    /// methods of its class call, and itself.
    private static func isCall(_ name: MethodName) -> Bool {
        guard name.baseName == "call" || name.baseName == "stream" else { return false }
        // An argument with a default value may be left out, so that the first one decides.
        guard let first = name.labels.first else { return true }
        return ["_", "prepare", "timeout", "function"].contains(first)
    }

    /// `dynamic` is called with these to set them for one call.
    private static func isDynamic(_ name: MethodName) -> Bool {
        name.baseName == "dynamic" && name.labels.allSatisfy { $0 == "timeout" || $0 == "prepare" }
    }
}

/// A descriptor compiled for its key: templates split, arguments numbered, literals encoded. A call parses nothing.
struct EndpointPlan: Sendable {
    enum Path: Sendable {
        /// No placeholder: the encoded path.
        case fixed(String)
        /// Segments, each of pieces whose literals are encoded already.
        case segments([Template])
        /// One placeholder is the whole path and takes a relative one.
        case whole(Int)
        /// An RFC 6570 template with the positions of its variables.
        case uriTemplate(URITemplate, [String: Int])
    }

    enum Query: Sendable {
        /// Encoded text without a placeholder.
        case fixed(String)
        /// A pair with placeholders, its literals encoded already; left out when an argument is `nil`.
        case pair(name: Template, value: Template?)
        /// A pair, or several, from an argument; the name is plain.
        case named(String, Int)
        /// The fields of an argument.
        case reflected(Int)
    }

    enum Header: Sendable {
        case fixed(HTTPFields.Name, String)
        case template(HTTPFields.Name, Template)
        case reflected(Int)

        /// The field's name, where it is known before the call.
        var name: HTTPFields.Name? {
            switch self {
            case .fixed(let name, _), .template(let name, _): name
            case .reflected: nil
            }
        }
    }

    let key: MethodName
    let method: ServiceRequest.Method
    var route: String
    /// What names the endpoint in errors and metrics, where the key doesn't.
    var label: String?
    let names: ArgumentNames
    /// The service root, when it has placeholders of this method's arguments.
    var root: Template?
    var path: Path = .fixed("")
    var query: [Query] = []
    var headers: [Header] = []
    /// The positions of the arguments whose labels say that they are secrets.
    var secretArguments: [Int] = []
    /// The position of the argument that is the body.
    var body: Int?
    /// What the call's cached response is found and dropped by.
    var cacheIdentifier: Template?
    /// The wire names that lead to the value inside the payload.
    var payloadRoot: [String] = []
    /// The descriptor's own settings.
    var settings = EndpointSettings()
}
