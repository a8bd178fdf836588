public import WebServiceClient

/// Expects that the tables of some clients agree with their methods.
///
///     @Test func tablesFit() throws {
///         try expectEndpointsMatchMethods(of: GitHub.self, Shop.self, ignoring: ["legacy(id:)"])
///     }
///
/// Each key must be the name of a method, or of a property with a getter. Each method that calls the table must have a key. Arguments must
/// have types that can be encoded for their places, and the result must fit the endpoint's `raw()`, `decoding(at:)`, `paged(by:)`, its
/// statuses and its settings for streams. If a method converts the result of the call, it can't be checked: ignore its key.
///
/// The methods are read from the symbols of the running process: see ``MethodList``. Methods that a build doesn't contain, such as internal
/// ones after optimization, aren't checked. The returned ``EndpointMethodReport`` lists them, and they are written to standard error. If no
/// methods can be read, the expectation fails.
///
/// - Parameters:
///   - clients: The clients.
///   - keys: Keys and names of methods to ignore: those that are only called dynamically, that pass another key to `call`, that are
/// declared in an extension of a protocol, or that convert their results.
/// - Returns: The checked and unchecked parts of each client.
/// - Throws: ``TestingFailure`` with a line for each fault of each client.
@discardableResult
public func expectEndpointsMatchMethods(
    of clients: WebServiceClient.Type..., ignoring keys: [String] = []
) throws(TestingFailure) -> [EndpointMethodReport] {
    let reports = EndpointMethodReport.reports(of: clients, ignoring: keys, SymbolSearch())
    let faulty = reports.filter { !$0.faults.isEmpty }
    guard faulty.isEmpty else { throw TestingFailure(faulty.map(\.description).joined(separator: "\n")) }
    for report in reports where !report.unchecked.isEmpty { StandardError.write(report.description + "\n") }
    return reports
}

/// The comparison of a client's table with its methods: ``expectEndpointsMatchMethods(of:ignoring:)``.
public struct EndpointMethodReport: Sendable, Hashable, CustomStringConvertible {
    /// The client's type.
    public let client: String
    /// How many of the client's methods could be read.
    public let completeness: MethodList.Completeness
    /// The disagreements, with the fixes.
    public internal(set) var faults: [String] = []
    /// The unchecked parts, with the reasons.
    public internal(set) var unchecked: [String] = []

    /// The client, and its faults and unchecked parts, one per line.
    public var description: String {
        var text = "\(client): the table and the methods "
        text += faults.isEmpty ? "agree, as far as they can be compared" : "don't agree"
        for fault in faults { text += "\n  - \(fault)" }
        for line in unchecked { text += "\n  (not checked: \(line))" }
        return text
    }

    /// Compares the tables of some clients with their methods.
    static func reports(
        of clients: [WebServiceClient.Type], ignoring keys: [String], _ search: SymbolSearch
    ) -> [EndpointMethodReport] {
        let lists = MethodList.lists(of: clients, search)
        var reports = zip(clients, lists).map { client, list in
            EndpointMethodReport(client: String(describing: client), table: client.endpointUses(), list: list, ignoring: Set(keys))
        }
        let known = Set(clients.flatMap { $0.endpoints.keys } + lists.flatMap { $0.methods.map(\.name.description) })
        let isReadable = !lists.contains { if case .complete = $0.completeness { false } else { true } }
        for key in keys where isReadable && !known.contains(key) && !reports.isEmpty {
            let near = NearestName.of(key, among: known.sorted()).map { "; the nearest is \"\($0)\"" } ?? ""
            reports[0].faults.append("ignoring \"\(key)\": there is no such key or method\(near)")
        }
        return reports
    }

    private init(client: String, table: [EndpointUse], list: MethodList, ignoring ignored: Set<String>) {
        self.client = client
        let uses = table.filter { !ignored.contains($0.key.description) }
        let methods = list.methods.filter { !ignored.contains($0.name.description) }
        let keys = Set(table.map(\.key))
        let matched = methods.filter { keys.contains($0.name) }
        let foundNone = matched.isEmpty && !methods.contains { $0.usesOwnName == true } && !uses.isEmpty
        if foundNone, case .unreadable = list.completeness {
            completeness = list.completeness
        } else if foundNone {
            // The reason is the way in which the client was built, which isn't known for certain.
            let reason =
                if case .publicOnly(let reason) = list.completeness { reason } else { "the class is empty, or its symbols were removed" }
            completeness = .unreadable("none of its \(uses.count) endpoints has a method: \(reason)")
        } else {
            completeness = list.completeness
        }
        if case .unreadable(let reason) = completeness {
            if !uses.isEmpty { faults.append("the methods can't be read, so nothing is checked: \(reason)") }
            return
        }
        compareNames(uses, methods, keys)
        for use in uses {
            for method in methods where method.name == use.key { compareTypes(use, method) }
        }
        unchecked += list.unreadableFiles.map { "methods in extensions of other files: \($0)" }
    }

    /// Finds keys without methods and methods without keys.
    private mutating func compareNames(_ uses: [EndpointUse], _ methods: [MethodList.Method], _ keys: Set<MethodName>) {
        var names = Set(methods.map(\.name))
        var orphans = Set(methods.filter { $0.usesOwnName == true && !keys.contains($0.name) }.map(\.name))
        // A method with a part of the labels is one of the endpoint.
        for use in uses {
            let partial = names.filter { !keys.contains($0) && use.takes($0) }
            orphans.subtract(partial)
            if !partial.isEmpty { names.insert(use.key) }
        }
        let free = names.subtracting(keys).filter { !$0.isProperty }
        var unfound: [String] = []
        for use in uses where !names.contains(use.key) {
            // A method that calls the table without a key is the likeliest candidate; a helper method is unlikely.
            let candidates = orphans.isEmpty ? free : orphans
            let sameBase = candidates.filter { $0.baseName == use.key.baseName }
            let nearest =
                NearestName.of(use.key.description, among: sameBase.map(\.description).sorted())
                ?? sameBase.map(\.description).min()
                ?? NearestName.of(use.key.description, among: candidates.map(\.description).sorted())
            if let nearest, let name = try? MethodName(nearest) {
                let isOrphan = orphans.remove(name) != nil
                if isOrphan || completeness == .complete {
                    let text =
                        name.baseName == use.key.baseName
                        ? "no method has these labels; there is \(nearest)" : "no method of that name; the nearest is \(nearest)"
                    faults.append("\"\(use.key)\": \(text)" + (isOrphan ? ", which has no key" : ""))
                    continue
                }
            }
            if completeness == .complete {
                faults.append(
                    "\"\(use.key)\": no method of that name; remove the entry, correct its key, or ignore it if only dynamic calls use it")
            } else {
                unfound.append(use.key.description)
            }
        }
        for name in orphans.sorted(by: { $0.description < $1.description }) {
            let near = NearestName.of(name.description, among: keys.map(\.description).sorted()).map { "; the nearest is \"\($0)\"" } ?? ""
            faults.append("\(name): calls the table, which has no such key\(near)")
        }
        if case .publicOnly(let reason) = completeness, !unfound.isEmpty {
            unchecked.append("whether \(unfound.joined(separator: ", ")) have methods, because \(reason)")
        }
        let unread = Set(methods.filter { $0.usesOwnName == nil && !keys.contains($0.name) && $0.isAsync && $0.isThrowing }.map(\.name))
        if !unread.isEmpty {
            let list = unread.map(\.description).sorted().joined(separator: ", ")
            unchecked.append("whether \(list) call the table, because their code can't be read")
        }
    }

    /// Finds arguments that can't be encoded for their places, and results that don't fit.
    private mutating func compareTypes(_ use: EndpointUse, _ method: MethodList.Method) {
        for (position, places) in use.places.enumerated() where method.parameters.indices.contains(position) && !places.isEmpty {
            let text = method.parameters[position]
            let label = method.name.labels[position]
            let argument = label == "_" ? "argument \(position)" : "argument \"\(label)\""
            if let type = method.parameterTypes[position] {
                if let fault = places.lazy.compactMap({ EndpointUse.fault(of: type, at: $0) }).first {
                    faults.append("\(method.name): \(argument) \(fault)")
                }
            } else if text.contains(" -> ") {
                faults.append("\(method.name): \(argument) is a function, which can't be encoded; exclude it with .ignoring(\"\(label)\")")
            } else if text.hasPrefix("inout ") {
                faults.append("\(method.name): \(argument) is inout, but the call doesn't change it")
            } else if !Self.isEncodable(text, method.constraints) {
                unchecked.append("\(method.name): whether \(argument), \(text), can be encoded")
            }
        }
        if let type = method.resultType {
            if let fault = use.fault(ofResult: type) { faults.append("\(method.name): \(fault)") }
        } else if !method.result.hasPrefix("("), !method.result.contains(" -> "), !Self.isEncodable(method.result, method.constraints),
            method.constraints[method.result] == nil
        {
            // A call can't return a tuple or a function, so the method makes it.
            unchecked.append("\(method.name): whether the result, \(method.result), fits")
        }
    }

    /// Returns whether an existential or a generic parameter is certainly encodable.
    private static func isEncodable(_ text: String, _ constraints: [String: [String]]) -> Bool {
        let names = text.hasSuffix("?") ? String(text.dropLast()) : text
        let bare = names.hasPrefix("(") && names.hasSuffix(")") ? String(names.dropFirst().dropLast()) : names
        let protocols = (constraints[bare] ?? []) + bare.split(separator: " & ", omittingEmptySubsequences: true).map(String.init)
        return protocols.contains { $0.hasSuffix("Swift.Encodable") || $0 == "Swift.Codable" || $0 == "Swift.BinaryInteger" }
    }
}
