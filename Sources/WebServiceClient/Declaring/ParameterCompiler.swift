// Compiles a descriptor's parameters, its own service root, and its media types.
extension EndpointCompiler {
    mutating func compileParameters() {
        if let optional = descriptor.optional {
            for label in optional.sorted() where !names.labels.contains(label) {
                add(.unknownArgument, ".optional(\"\(label)\") names no argument", fix(nearest: label))
            }
            plan.required = Set(names.labels.indices.filter { !optional.contains(names.labels[$0]) })
        }
        for (alias, label) in descriptor.aliases.sorted(by: { $0.key < $1.key }) where !names.labels.contains(label) {
            add(.unknownArgument, ".alias(\"\(alias)\", of: \"\(label)\") names no argument", fix(nearest: label))
        }
        guard let root = descriptor.serviceRoot else { return }
        do {
            plan.serviceRoot = try OwnRoot(root)
        } catch {
            add(.badServiceRoot, error.problem, error.fix)
        }
    }

    private func fix(nearest label: String) -> String {
        NearestName.of(label, among: names.labels).map { "did you mean \"\($0)\"?" } ?? "use one of the key's labels"
    }

    mutating func compileBodyTypes() {
        guard let types = descriptor.bodyTypes else { return }
        var known: [MediaType] = []
        for text in types.types {
            if let problem = BodyTypes.problem(in: text) {
                add(.badParser, ".bodyTypes(…): \(problem)", "write type/subtype, type/* or */*")
            } else if let type = MediaType(text) {
                known.append(type)
            }
        }
        if types.types.isEmpty { add(.badParser, ".bodyTypes(…) names no media type", "give at least one, or remove it") }
        let choice = types.choice.flatMap { position($0, in: ".bodyTypes(…, chosenBy: .argument(\($0)))") }
        plan.bodyTypes = (known, choice, types.encodings)
    }
}

/// The service root of one endpoint.
enum OwnRoot: Sendable {
    /// The percent-encoded path on the client's origin, without a slash at its end.
    case path(String)
    case absolute(ServiceRoot)

    /// The reason why a text isn't a root, with the fix.
    struct Problem: Error {
        let problem: String
        let fix: String
    }

    init(_ text: String) throws(Problem) {
        guard text.utf8.first == UInt8(ascii: "/") else {
            guard let root = ServiceRoot(text), !ServiceRoot.hasPlaceholders(text) else {
                let fault = ServiceRoot.fault(in: text)
                throw Problem(problem: "the endpoint's own " + fault.problem.dropFirst(4), fix: fault.fix + ", or a path like \"/upload\"")
            }
            self = .absolute(root)
            return
        }
        let segments = text.unicodeScalars.split(separator: "/").map { String($0) }
        guard !text.hasPrefix("//"), !text.unicodeScalars.contains(where: { $0 == "?" || $0 == "#" }),
            !ServiceRoot.hasPlaceholders(text), !segments.contains(where: URLEncoding.isDotSegment)
        else {
            throw Problem(
                problem: "the endpoint's own service root \"\(SecretMask.text(ofURL: text))\" isn't a plain path",
                fix: "write it like \"/upload\", without query, fragment, placeholders, and \".\" or \"..\" segments")
        }
        self = .path(segments.map { "/" + URLEncoding.repaired($0, allowing: .pathSegment) }.joined())
    }
}

/// An endpoint that calls with a part of its labels can use, in any order.
struct PartialEndpoint: Sendable {
    let entry: EndpointTable.Entry
    let key: MethodName

    /// The endpoint of an entry; `nil` if its calls have exactly the key's labels.
    init?(_ entry: EndpointTable.Entry, _ key: MethodName) {
        guard entry.descriptor.optional != nil, !key.isProperty else { return nil }
        (self.entry, self.key) = (entry, key)
    }

    /// The endpoint of an entry whose calls have exactly the key's labels, for calls by names; `nil` if the names don't tell the arguments.
    init?(exact entry: EndpointTable.Entry, _ key: MethodName) {
        guard !key.isProperty, !key.labels.contains("_"), Set(key.labels).count == key.labels.count, entry.descriptor.ignored.isEmpty
        else { return nil }
        (self.entry, self.key) = (entry, key)
    }

    private var labels: [String] { key.labels.filter { !entry.descriptor.ignored.contains($0) } }

    /// Returns the positions in a call of the endpoint's arguments, `nil` for those that it leaves out; or why the call doesn't fit.
    func positions(in call: MethodName) -> Result<[Int?], TableFaults> {
        let labels = labels
        let given = call.labels.filter { !entry.descriptor.ignored.contains($0) }
        var positions = [Int?](repeating: nil, count: labels.count)
        var faults: [TableFault] = []
        func add(_ kind: TableFault.Kind, _ problem: String, _ fix: String) {
            faults.append(TableFault(kind: kind, key: call.description, problem: problem, fix: fix))
        }
        for (position, label) in given.enumerated() where label != "_" {
            guard let index = labels.firstIndex(of: label) else {
                let fix = NearestName.of(label, among: labels).map { "did you mean \"\($0)\"?" } ?? "its arguments are: \(list(labels))"
                add(.unknownArgument, "\(key.baseName) has no argument \"\(label)\"", fix)
                continue
            }
            if positions[index] != nil { add(.unknownArgument, "the argument \"\(label)\" is passed twice", "pass it once") }
            positions[index] = position
        }
        // Arguments without labels take the places that are left, in order.
        for (position, label) in given.enumerated() where label == "_" {
            guard let index = positions.firstIndex(where: { $0 == nil }) else {
                add(.unknownArgument, "\(key.baseName) takes \(labels.count) arguments, and more are passed", "remove them")
                break
            }
            positions[index] = position
        }
        let optional = entry.descriptor.optional ?? []
        let missing = labels.indices.filter { positions[$0] == nil && !optional.contains(labels[$0]) }.map { labels[$0] }
        if !missing.isEmpty {
            add(
                .missingArgument, "\(key.baseName) requires \(missing.count == 1 ? "the argument" : "the arguments") \(list(missing))",
                "pass \(missing.count == 1 ? "it" : "them")"
                    + (entry.isBareName ? "" : ", or add the labels to .optional(…) if they may be left out"))
        }
        return faults.isEmpty ? .success(positions) : .failure(TableFaults(client: "", faults: faults))
    }

    private func list(_ labels: [String]) -> String {
        let shown = labels.prefix(12).map { "\"\($0)\"" }.joined(separator: ", ")
        return labels.isEmpty ? "none" : labels.count > 12 ? "\(shown) and \(labels.count - 12) more" : shown
    }

    /// Returns the label of an argument by its label or another name of it; `nil` if there is none, or several arguments have the name.
    func label(of name: String) -> String? {
        let labels = labels
        if name != "_", labels.contains(name) { return name }
        let descriptor = entry.descriptor
        var found = Set(descriptor.aliases[name].map { [$0] } ?? [])
        func add(_ wireName: String, _ argument: EndpointArgument, isCaseSensitive: Bool = true) {
            guard wireName == name || !isCaseSensitive && wireName.lowercased() == name.lowercased() else { return }
            switch argument.reference {
            case .label(let label): found.insert(label)
            case .position(let position): if labels.indices.contains(position) { found.insert(labels[position]) }
            }
        }
        for part in descriptor.query { if case .named(let name, let argument, _) = part { add(name, argument) } }
        for part in descriptor.headers {
            switch part {
            case .argument(let name, let argument, _): add(name.rawName, argument, isCaseSensitive: false)
            case .cookie(let name, let argument, _): add(name, argument)
            case .template, .bound, .reflected: break
            }
        }
        return found.count == 1 ? found.first : nil
    }

    /// The labels, and the service's names of arguments.
    var names: [String] {
        let descriptor = entry.descriptor
        var names = labels + descriptor.aliases.keys.sorted()
        for part in descriptor.query { if case .named(let name, _, _) = part { names.append(name) } }
        for part in descriptor.headers {
            switch part {
            case .argument(let name, _, _): names.append(name.rawName)
            case .cookie(let name, _, _): names.append(name)
            case .template, .bound, .reflected: break
            }
        }
        return names
    }
}
