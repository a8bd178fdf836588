/// A table compiled for its class: the plans by key, and all faults.
final class CompiledTable: Sendable {
    /// The plans by the text of their keys.
    let plans: [String: EndpointPlan]
    /// The entries of profiles with bare names, which apply to every method of that base name. They are compiled for each calling method,
    /// since only the method has labels.
    private let bareNames: [String: EndpointTable.Entry]
    /// The endpoints that calls with a part of their labels can use, by base name.
    private let partial: [String: [PartialEndpoint]]
    /// The endpoints without optional arguments by base name, for calls by names.
    private let exact: [String: [PartialEndpoint]]
    /// The service root if it has placeholders, else `nil`.
    private let root: String?
    /// The headers of client and class with placeholders.
    private let headers: HeaderTemplates
    /// The keys in table order, for messages and descriptions.
    let keys: [String]
    let faults: [TableFault]

    /// Compiles a table.
    ///
    /// - Parameters:
    ///   - root: The service root if it has placeholders, else `nil`.
    ///   - headers: The headers of client and class with placeholders.
    ///   - methods: The keys of the class's methods, which bare names of a profile must fit.
    init(_ table: EndpointTable, root: String?, headers: HeaderTemplates = HeaderTemplates(), methods: [String] = []) {
        var plans: [String: EndpointPlan] = [:]
        var bareNames: [String: EndpointTable.Entry] = [:]
        var partial: [String: [PartialEndpoint]] = [:]
        var exact: [String: [PartialEndpoint]] = [:]
        var faults: [TableFault] = []
        var seen: Set<String> = []
        for entry in table.entries {
            if !seen.insert(entry.key).inserted {
                faults.append(
                    TableFault(
                        kind: .duplicateKey, key: entry.key, problem: "the key occurs twice in the table",
                        fix: "remove one; methods that differ only in types share a key"))
            }
            if entry.isBareName, !entry.key.contains("(") {
                bareNames[entry.key] = entry
                continue
            }
            do {
                let name = try MethodName(entry.key)
                let descriptor = entry.isBareName ? entry.descriptor(for: entry.key) : entry.descriptor
                var (plan, found) = EndpointCompiler.compile(descriptor, for: name, root: root, headers: headers[descriptor.method])
                if entry.isBareName { plan.label = name.baseName }
                plans[name.description] = plan
                faults += found
                // A profile's endpoint that no method has is called through `dynamic` only.
                if !entry.isBareName, let fault = ReservedKeys.fault(of: name) { faults.append(fault) }
                if let endpoint = PartialEndpoint(entry, name) {
                    partial[name.baseName, default: []].append(endpoint)
                } else if let endpoint = PartialEndpoint(exact: entry, name) {
                    exact[name.baseName, default: []].append(endpoint)
                }
            } catch {
                let fix = error.suggestion.map { "write \"\($0)\"" } ?? "write it like \"repository(owner:name:)\""
                faults.append(TableFault(kind: .malformedKey, key: entry.key, problem: "the key \(error.problem)", fix: fix))
            }
        }
        self.plans = plans
        self.bareNames = bareNames
        self.partial = partial
        self.exact = exact
        self.root = root
        self.headers = headers
        keys = table.keys
        for key in methods where plans[key] == nil {
            faults += Self.plan(byBareNameOf: key, bareNames, partial, root: root, headers)?.faults ?? []
        }
        self.faults = faults
    }

    /// Whether an endpoint has methods with other keys: by a bare name of a profile, or by a part of its labels.
    var hasBareNames: Bool { !bareNames.isEmpty || !partial.isEmpty }

    /// Returns the endpoints with a base name that calls with all of their labels, in any order, can use.
    func exactEndpoints(_ baseName: String) -> [PartialEndpoint] { exact[baseName] ?? [] }

    /// Returns the endpoints with a base name that calls with a part of their labels can use.
    func partialEndpoints(_ baseName: String) -> [PartialEndpoint] { partial[baseName] ?? [] }

    /// Whether a method's base name is that of an endpoint with optional arguments.
    func hasPartialEndpoint(for function: String) -> Bool { partial[String(function.prefix { $0 != "(" })] != nil }

    /// Returns the plan and the faults of a method that a bare name, or an endpoint with optional arguments, applies to; `nil` if there is
    /// none.
    func plan(byBareNameOf function: String) -> (plan: EndpointPlan, faults: [TableFault])? {
        Self.plan(byBareNameOf: function, bareNames, partial, root: root, headers)
    }

    private static func plan(
        byBareNameOf function: String, _ bareNames: [String: EndpointTable.Entry], _ partial: [String: [PartialEndpoint]], root: String?,
        _ headers: HeaderTemplates
    ) -> (plan: EndpointPlan, faults: [TableFault])? {
        guard let name = try? MethodName(function) else { return nil }
        guard let entry = bareNames[name.baseName] else {
            return partial[name.baseName].flatMap { Self.plan(of: name, among: $0, root: root, headers) }
        }
        let descriptor = entry.descriptor(for: name.description)
        let (plan, faults) = EndpointCompiler.compile(descriptor, for: name, root: root, headers: headers[descriptor.method])
        return (plan, faults + [ReservedKeys.fault(of: name)].compactMap(\.self))
    }

    /// Returns the plan of the first endpoint that a call fits; if it fits none, the faults that it has with the one whose labels are
    /// nearest.
    private static func plan(
        of name: MethodName, among endpoints: [PartialEndpoint], root: String?, _ headers: HeaderTemplates
    ) -> (plan: EndpointPlan, faults: [TableFault])? {
        var nearest: (endpoint: PartialEndpoint, faults: [TableFault])?
        for endpoint in endpoints {
            switch endpoint.positions(in: name) {
            case .success(let positions):
                let descriptor = endpoint.entry.isBareName ? endpoint.entry.descriptor(for: name.description) : endpoint.entry.descriptor
                var (plan, faults) = EndpointCompiler.compile(
                    descriptor, for: endpoint.key, root: root, headers: headers[descriptor.method])
                plan.passed = positions
                plan.label = endpoint.entry.isBareName ? name.baseName : nil
                return (plan, faults)
            case .failure(let failure):
                if failure.faults.count < nearest?.faults.count ?? .max { nearest = (endpoint, failure.faults) }
            }
        }
        guard let nearest else { return nil }
        let descriptor = nearest.endpoint.entry.descriptor
        return (
            EndpointPlan(key: name, method: descriptor.method, route: descriptor.route.text, names: ArgumentNames(name, ignoring: [])),
            nearest.faults
        )
    }

    /// The settings of each endpoint, in table order.
    var settings: [(key: String, method: ServiceRequest.Method, settings: EndpointSettings)] {
        keys.compactMap { key in
            plans[key].map { (key, $0.method, $0.settings) } ?? bareNames[key].map { (key, $0.descriptor.method, $0.descriptor.settings) }
        }
    }

    /// The key of a compiled table: each class is compiled once, and again for each root and for headers with placeholders.
    private struct CacheKey: Hashable {
        let type: ObjectIdentifier
        let root: String?
        let headers: HeaderTemplates
    }

    private static let cache = Locked<[CacheKey: CompiledTable]>([:])

    /// The compiled table of a class, created from its endpoints on first use.
    static func of(
        _ type: AnyClass, root: String?, headers: HeaderTemplates, _ endpoints: @autoclosure () -> EndpointTable
    ) -> CompiledTable {
        let key = CacheKey(type: ObjectIdentifier(type), root: root, headers: headers)
        if let known = cache.withLock({ $0[key] }) { return known }
        let made = CompiledTable(endpoints(), root: root, headers: headers)
        return cache.withLock { cache in
            if let known = cache[key] { return known }
            cache[key] = made
            return made
        }
    }
}

/// The keys that no endpoint can have, because ``WebServiceClient`` has members with these names.
enum ReservedKeys {
    /// The names of methods and properties, and the labels they are called with.
    private static let members: Set<String> = [
        "configuration", "configure(_:)", "profile", "profileHistory", "replaceProfile(_:)", "rollBackProfile()", "http", "dynamic",
        "dryRun(_:)", "dryRun(isolation:_:)", "verify()", "verify(_:)", "circuits", "queue", "calls", "call(identifier:)",
        "cancelAll(reason:)", "shutdown(within:)", "activity", "environment", "session", "transfers",
    ]

    /// Returns the fault of a reserved key.
    static func fault(of name: MethodName) -> TableFault? {
        let key = name.description
        guard members.contains(key) || isCall(name) || isDynamic(name) else { return nil }
        let labels: [String] = name.labels.isEmpty ? [] : ["for"] + name.labels.dropFirst()
        let example = MethodName(baseName: name.baseName + "Value", labels: labels)
        return TableFault(
            kind: .reservedKey, key: key,
            problem: "the base class has a member \(name.baseName) with the same signature, so calls would be ambiguous",
            fix: "give the method and the key another name, such as \"\(example)\"; a key is never sent")
    }

    /// `call` and `stream` take any number of arguments, followed by these labels. A method with such a name would be called by the
    /// class's other methods, and by itself.
    private static func isCall(_ name: MethodName) -> Bool {
        guard name.baseName == "call" || name.baseName == "stream" else { return false }
        // An argument with a default value may be omitted, so the first one decides.
        guard let first = name.labels.first else { return true }
        return ["_", "prepare", "timeout", "function"].contains(first)
    }

    /// `dynamic` takes these labels as settings of one call.
    private static func isDynamic(_ name: MethodName) -> Bool {
        name.baseName == "dynamic" && name.labels.allSatisfy { $0 == "timeout" || $0 == "prepare" }
    }
}

/// A descriptor compiled for its key: templates are split, arguments numbered, literals encoded. A call parses nothing.
struct EndpointPlan: Sendable {
    enum Path: Sendable {
        /// The encoded path, without placeholders.
        case fixed(String)
        /// Segments made of pieces whose literals are encoded.
        case segments([Template])
        /// A single placeholder as the whole path, which takes a relative path.
        case whole(Int)
        /// An RFC 6570 template with the argument positions of its variables.
        case uriTemplate(URITemplate, [String: Int])
    }

    enum Query: Sendable {
        /// Encoded text without placeholders.
        case fixed(String)
        /// A pair with placeholders and encoded literals; omitted if an argument is `nil`.
        case pair(name: Template, value: Template?)
        /// One or several pairs from an argument; the name isn't encoded.
        case named(String, Int, ArgumentStyle)
        /// The fields of an argument.
        case reflected(Int)
    }

    enum Header: Sendable {
        case fixed(HTTPFields.Name, String)
        /// Values that were bound earlier; without any, the field of client and class isn't sent.
        case bound(HTTPFields.Name, [String])
        case template(HTTPFields.Name, Template)
        case reflected(Int)
        case argument(HTTPFields.Name, Int, ArgumentStyle)
        case cookie(String, Int, ArgumentStyle)

        /// Sets the field, if its values are known before the call.
        func bind(to headers: inout HTTPFields) {
            switch self {
            case .fixed(let name, let value):
                headers[name] = value
            case .bound(let name, let values):
                headers[name] = nil
                for value in values { headers.append(name, value) }
            case .template, .reflected, .argument, .cookie:
                break
            }
        }

        /// The field's name, if it is known before the call.
        var name: HTTPFields.Name? {
            switch self {
            case .fixed(let name, _), .bound(let name, _), .template(let name, _), .argument(let name, _, _): name
            case .reflected, .cookie: nil
            }
        }
    }

    let key: MethodName
    let method: ServiceRequest.Method
    var route: String
    /// The endpoint's name in errors and metrics, if the key isn't suitable.
    var label: String?
    let names: ArgumentNames
    /// The service root, if it has placeholders for this method's arguments.
    var root: Template?
    var path: Path = .fixed("")
    var query: [Query] = []
    /// The headers of client and class that have placeholders and that the endpoint doesn't replace, with the templates of their values.
    var commonHeaders: [(name: HTTPFields.Name, values: [Template])] = []
    var headers: [Header] = []
    /// The positions of the arguments whose labels denote secrets.
    var secretArguments: [Int] = []
    /// Secrets in arguments whose labels don't mark them as secrets, from a stored call.
    var secretTexts: [String] = []
    /// The position of the body argument.
    var body: Int?
    /// The identifier by which the call's cached response is found and removed.
    var cacheIdentifier: Template?
    /// The identifier by which the call is found, shared or replaced.
    var identifier: (template: Template, policy: CallIdentifier.Policy)?
    /// The wire names that lead to the value inside the payload.
    var payloadRoot: [String] = []
    /// The positions of the arguments that must not be `nil`.
    var required: Set<Int> = []
    /// The positions in the call of the arguments; `nil` for one that the call leaves out, and for all if the call has the key's labels.
    var passed: [Int?]?
    /// The endpoint's own service root.
    var serviceRoot: OwnRoot?
    /// The media types of the body, and the position of the argument that chooses one.
    var bodyTypes: (types: [MediaType], choice: Int?, encodings: [String: [String: PropertyEncoding]])?
    /// The descriptor's own settings.
    var settings = EndpointSettings()
}
