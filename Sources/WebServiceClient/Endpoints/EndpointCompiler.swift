/// Compiles a descriptor for its key, and notes every fault on the way.
struct EndpointCompiler {
    private let descriptor: EndpointDescriptor
    private let key: String
    private let names: ArgumentNames
    private var plan: EndpointPlan
    private var used: Set<Int> = []
    private(set) var faults: [TableFault] = []

    /// Compiles a descriptor.
    ///
    /// - Parameter root: the service root where it has placeholders, else `nil`.
    static func compile(_ descriptor: EndpointDescriptor, for name: MethodName, root: String?) -> (EndpointPlan, [TableFault]) {
        var compiler = EndpointCompiler(descriptor, name)
        compiler.compileMethod()
        if let root { compiler.plan.root = compiler.template(root, in: "the service root") }
        compiler.compileRoute()
        compiler.compileQuery()
        compiler.compileHeaders()
        compiler.compileBody()
        compiler.checkSettings()
        return (compiler.plan, compiler.faults)
    }

    private init(_ descriptor: EndpointDescriptor, _ name: MethodName) {
        self.descriptor = descriptor
        key = name.description
        names = ArgumentNames(name, ignoring: descriptor.ignored)
        plan = EndpointPlan(key: name, method: descriptor.method, route: descriptor.route.text, names: names)
        plan.payloadRoot = EndpointSettings.components(of: descriptor.root)
        plan.settings = descriptor.settings
        for label in descriptor.ignored.sorted() where !name.labels.contains(label) {
            add(.unknownArgument, ".ignoring(\"\(label)\") names no argument", Self.fix(nearest: NearestName.of(label, among: name.labels)))
        }
    }

    private mutating func add(_ kind: TableFault.Kind, _ problem: String, _ fix: String) {
        faults.append(TableFault(kind: kind, key: key, problem: problem, fix: fix))
    }

    private static func fix(nearest: String?) -> String {
        nearest.map { "did you mean \"\($0)\"?" } ?? "use one of the method's labels or a position"
    }

    // MARK: Templates and references

    private mutating func template(_ text: some StringProtocol, in place: String, isSecret: Bool = false) -> Template {
        var problems: [TemplateProblem] = []
        let template = Template(text, names: names) { problems.append($0) }
        used.formUnion(template.arguments)
        for problem in problems { add(problem.kind, in: "\(place)\(isSecret ? "" : " \"\(text)\""), column \(problem.column)") }
        return template
    }

    private mutating func position(_ argument: EndpointArgument, in place: String) -> Int? {
        switch names.resolve(argument) {
        case .success(let position):
            used.insert(position)
            return position
        case .failure(let kind):
            add(kind, in: place)
            return nil
        }
    }

    private mutating func add(_ kind: TemplateProblem.Kind, in place: String) {
        switch kind {
        case .unclosed:
            add(.badTemplate, "in \(place) there is %% without a closing %%", "close the placeholder, or write a single % as %25")
        case .noName(let text):
            add(.badTemplate, "in \(place) \"\(text)\" is no name of an argument", "write a label or a position between the %% marks")
        case .unknown(let name, let suggestion):
            add(.unknownArgument, "in \(place) \"\(name)\" is no argument of the method", Self.fix(nearest: suggestion))
        case .outOfRange(let number, let arity):
            let range = arity == 0 ? "the method has no arguments" : "the method's arguments are 0 to \(arity - 1)"
            add(.unknownArgument, "in \(place) there is no argument \(number)", range)
        case .ambiguous(let name):
            add(.unknownArgument, "in \(place) several arguments are labelled \"\(name)\"", "use their positions")
        }
    }

    // MARK: Parts

    private mutating func compileMethod() {
        if !descriptor.method.isValid {
            add(.badMethod, "\"\(descriptor.method)\" is no HTTP method", "use a name of letters, such as GET")
        }
    }

    private mutating func compileRoute() {
        switch descriptor.route {
        case .uriTemplate(let text): compileURITemplate(text)
        case .template(let text): compileTemplate(text)
        }
    }

    private mutating func compileURITemplate(_ text: String) {
        do {
            let template = try URITemplate(text)
            var positions: [String: Int] = [:]
            for variable in template.variables {
                switch names.resolve(variable) {
                case .success(let position):
                    used.insert(position)
                    positions[variable] = position
                case .failure(let kind):
                    add(kind, in: "the URI template \"\(text)\"")
                }
            }
            plan.path = .uriTemplate(template, positions)
        } catch {
            add(.badTemplate, "the URI template \"\(text)\" can't be read: \(error)", "correct it by RFC 6570")
        }
    }

    private mutating func compileTemplate(_ text: String) {
        let question = text.firstIndex(of: "?") ?? text.endIndex
        let path = text[..<question]
        if text.contains("#") {
            add(.badTemplate, "the route \"\(text)\" has a fragment, which is never sent", "take \"#\" out, or write it as %23")
        }
        if path.contains("://") {
            add(.badTemplate, "the route \"\(text)\" is an absolute URL", "give the path only; the service root stands before it")
        }
        if path.count(of: "%%") == 2, path.hasPrefix("%%"), path.hasSuffix("%%"),
            let argument = template(path, in: "the route").onlyArgument
        {
            plan.path = .whole(argument)
        } else {
            let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
                Self.encoded(template(segment, in: "the route"), allowing: .pathSegment)
            }
            if segments.allSatisfy({ $0.literal != nil }) {
                plan.path = .fixed(segments.compactMap(\.literal).joined(separator: "/"))
            } else {
                plan.path = .segments(segments)
            }
        }
        guard question < text.endIndex else { return }
        for pair in text[text.index(after: question)...].split(separator: "&") {
            let equals = pair.firstIndex(of: "=")
            let name = template(pair[..<(equals ?? pair.endIndex)], in: "the query")
            let value = equals.map { template(pair[pair.index(after: $0)...], in: "the query") }
            addPair(Self.encoded(name, allowing: .query), value.map { Self.encoded($0, allowing: .query) })
        }
    }

    private mutating func addPair(_ name: Template, _ value: Template?) {
        if let fixedName = name.literal, value.map({ $0.literal != nil }) ?? true {
            plan.query.append(.fixed(value.flatMap(\.literal).map { fixedName + "=" + $0 } ?? fixedName))
        } else {
            plan.query.append(.pair(name: name, value: value))
        }
    }

    private mutating func compileQuery() {
        for part in descriptor.query {
            switch part {
            case .template(let name, let value):
                let encodedName = Template(pieces: [.literal(URLEncoding.queryName(name))])
                addPair(encodedName, Self.plainEncoded(template(value, in: "the query item \(name)")))
            case .named(let name, let argument):
                if let position = position(argument, in: "the query item \(name)") { plan.query.append(.named(name, position)) }
            case .reflected(let argument):
                if let position = position(argument, in: ".query(.argument(\(argument)))") { plan.query.append(.reflected(position)) }
            }
        }
    }

    private mutating func compileHeaders() {
        for part in descriptor.headers {
            switch part {
            case .template(let name, let value):
                if !name.isValid {
                    add(.badHeader, "\"\(name.rawName)\" is no header name", "only letters, digits and !#$%&'*+-.^_`|~ may stand in it")
                }
                if HTTPFields.Field.breaksLine(value) {
                    add(.badHeader, "the value of the header \(name) holds CR, LF or NUL", "take them out")
                }
                let template = template(value, in: "the header \(name)", isSecret: SecretMask.hides(name))
                plan.headers.append(template.literal.map { .fixed(name, $0) } ?? .template(name, template))
            case .reflected(let argument):
                if let position = position(argument, in: ".headers(.argument(\(argument)))") { plan.headers.append(.reflected(position)) }
            }
        }
    }

    private mutating func compileBody() {
        let method = descriptor.method
        if case .argument(let argument) = descriptor.body {
            if method == .get || method == .head {
                add(.unfitBody, "a \(method) has no body", "put the argument into the query, or use POST")
            }
            plan.body = position(argument, in: ".body(.argument(\(argument)))")
        }
        let unused = (0..<names.count).filter { !used.contains($0) }
        if case .implicit = descriptor.body, method.usuallyHasBody, unused.count == 1 {
            plan.body = unused[0]
            return
        }
        for position in unused {
            let fix =
                method.usuallyHasBody
                ? "say which one is the body with .body(.argument(\(position))), use it in the route, or leave it out with .ignoring"
                : "use it in the route or the query, or leave it out with .ignoring"
            add(.unusedArgument, "\(names.description(of: position)) is used by nothing", fix)
        }
    }

    private mutating func checkSettings() {
        if let statuses = descriptor.settings.statuses, statuses.isEmpty {
            add(.badStatuses, "no status counts as success", "give .accepting(…) at least one status")
        }
        faults += TrustCheck.faults(descriptor.settings, key: key)
    }

    /// The template with its literals repaired to what may stand in that part of a URL; valid escapes are kept.
    private static func encoded(_ template: Template, allowing alphabet: URLEncoding.Alphabet) -> Template {
        Template(
            pieces: template.pieces.map { piece in
                if case .literal(let text) = piece { .literal(URLEncoding.repaired(text, allowing: alphabet)) } else { piece }
            })
    }

    /// The template with its literals encoded as plain values.
    private static func plainEncoded(_ template: Template) -> Template {
        Template(
            pieces: template.pieces.map { piece in
                if case .literal(let text) = piece { .literal(URLEncoding.queryValue(text)) } else { piece }
            })
    }
}

extension StringProtocol {
    /// How often a mark stands in the text, counted without overlap.
    fileprivate func count(of mark: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.range(ofMark: mark) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
