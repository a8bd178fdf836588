/// Compiles a descriptor for its key and collects every fault.
struct EndpointCompiler {
    let descriptor: EndpointDescriptor
    let key: String
    let names: ArgumentNames
    var plan: EndpointPlan
    var used: Set<Int> = []
    var faults: [TableFault] = []

    /// Compiles a descriptor.
    ///
    /// - Parameters:
    ///   - root: The service root if it has placeholders, else `nil`.
    ///   - headers: The headers of client and class with placeholders.
    static func compile(
        _ descriptor: EndpointDescriptor, for name: MethodName, root: String?, headers: [HTTPFields.Field] = []
    ) -> (EndpointPlan, [TableFault]) {
        var compiler = EndpointCompiler(descriptor, name)
        compiler.compileMethod()
        if let root { compiler.plan.root = compiler.template(root, in: "the service root") }
        compiler.compileRoute()
        compiler.compileQuery()
        compiler.compileCommonHeaders(headers)
        compiler.compileHeaders()
        compiler.compileCacheIdentifier()
        compiler.compileIdentifier()
        compiler.compileParameters()
        compiler.compileBody()
        compiler.checkSettings()
        return (compiler.plan, compiler.faults)
    }

    private init(_ descriptor: EndpointDescriptor, _ name: MethodName) {
        self.descriptor = descriptor
        key = name.description
        names = ArgumentNames(name, ignoring: descriptor.ignored)
        plan = EndpointPlan(key: name, method: descriptor.method, route: descriptor.route.text, names: names)
        plan.payloadRoot = descriptor.root
        plan.secretArguments = names.labels.indices.filter { SecretMask.hidesMember(named: names.labels[$0]) }
        plan.settings = descriptor.settings
        for label in descriptor.ignored.sorted() where !name.labels.contains(label) {
            add(.unknownArgument, ".ignoring(\"\(label)\") names no argument", Self.fix(nearest: NearestName.of(label, among: name.labels)))
        }
    }

    mutating func add(_ kind: TableFault.Kind, _ problem: String, _ fix: String) {
        faults.append(TableFault(kind: kind, key: key, problem: problem, fix: fix))
    }

    private static func fix(nearest: String?) -> String {
        nearest.map { "did you mean \"\($0)\"?" } ?? "use one of the method's labels or a position"
    }

    // MARK: Templates and references

    mutating func template(_ text: some StringProtocol, in place: String, isSecret: Bool = false) -> Template {
        var problems: [TemplateProblem] = []
        let template = Template(text, names: names) { problems.append($0) }
        used.formUnion(template.arguments)
        for problem in problems {
            let shown = isSecret ? "" : " \"\(SecretMask.text(ofURL: String(text)))\""
            add(problem.kind, in: "\(place)\(shown), column \(problem.column)")
        }
        return template
    }

    mutating func position(_ argument: EndpointArgument, in place: String) -> Int? {
        switch names.resolve(argument) {
        case .success(let position):
            used.insert(position)
            return position
        case .failure(let kind):
            add(kind, in: place)
            return nil
        }
    }

    mutating func add(_ kind: TemplateProblem.Kind, in place: String) {
        switch kind {
        case .unclosed:
            add(.badTemplate, "in \(place) there is %% without a closing %%", "close the placeholder, or write a single % as %25")
        case .noName(let text):
            add(.badTemplate, "in \(place) \"\(text)\" isn't the name of an argument", "write a label or a position between the %% marks")
        case .unknown(let name, let suggestion):
            add(.unknownArgument, "in \(place) \"\(name)\" isn't an argument of the method", Self.fix(nearest: suggestion))
        case .outOfRange(let number, let arity):
            let range = arity == 0 ? "the method has no arguments" : "the method's arguments are 0 to \(arity - 1)"
            add(.unknownArgument, "in \(place) there is no argument \(number)", range)
        case .ambiguous(let name):
            add(.unknownArgument, "in \(place) several arguments are labeled \"\(name)\"", "use their positions")
        }
    }

    private mutating func compileMethod() {
        if !descriptor.method.isValid {
            add(.badMethod, "\"\(descriptor.method)\" isn't an HTTP method", "use a name of letters, such as GET")
        } else if let known = descriptor.method.knownSpelling, known != descriptor.method {
            add(.badMethod, "\"\(descriptor.method)\" isn't an HTTP method, since methods are case-sensitive", "write \(known)")
        }
    }
}

// The modifiers: query items, headers, the body, settings.
extension EndpointCompiler {
    mutating func compileQuery() {
        for part in descriptor.query {
            switch part {
            case .template(let name, let value):
                let encodedName = Template(pieces: [.literal(URLEncoding.queryName(name))])
                addPair(encodedName, Self.plainEncoded(template(value, in: "the query item \(name)")))
            case .named(let name, let argument, let style):
                if let position = position(argument, in: "the query item \(name)") { plan.query.append(.named(name, position, style)) }
            case .reflected(let argument):
                if let position = position(argument, in: ".query(.argument(\(argument)))") { plan.query.append(.reflected(position)) }
            }
        }
    }

    /// Compiles the headers of client and class with placeholders, except those that the endpoint replaces. Such a header may be a token
    /// that has the marks by chance, so faults show what is between them only if it can be a name.
    mutating func compileCommonHeaders(_ headers: [HTTPFields.Field]) {
        let replaced = Set(descriptor.headers.compactMap(\.name))
        for field in headers where !replaced.contains(field.name) {
            var isFaulty = false
            let template = Template(field.value, names: names) { _ in isFaulty = true }
            used.formUnion(template.arguments)
            if isFaulty { addCommonHeader(field) }
            if let index = plan.commonHeaders.firstIndex(where: { $0.name == field.name }) {
                plan.commonHeaders[index].values.append(template)
            } else {
                plan.commonHeaders.append((field.name, [template]))
            }
        }
    }

    private mutating func addCommonHeader(_ field: HTTPFields.Field) {
        let wrong = Template.placeholders(in: field.value).first { placeholder in
            if case .failure = names.resolve(placeholder) { true } else { false }
        }
        let isShown = wrong.map { $0.utf8.count <= 40 && HTTPFields.Name.isToken($0) } ?? true
        let problem =
            wrong.map { "has the placeholder \(isShown ? "%%\($0)%%" : "%%…%%"), which isn't an argument of the method" }
            ?? "has %% without a closing %%"
        add(
            .badHeader, "the header \"\(field.name)\" of the client or the class \(problem)",
            "give the method the argument, or the endpoint a header of its own with .header(\"\(field.name)\", …)")
    }

    mutating func compileHeaders() {
        for part in descriptor.headers {
            switch part {
            case .bound(let name, let values):
                plan.headers.append(.bound(name, values))
            case .template(let name, let value):
                if !name.isValid {
                    add(.badHeader, "\"\(name.rawName)\" isn't a valid header name", "use only letters, digits and !#$%&'*+-.^_`|~")
                }
                if HTTPFields.Field.hasControls(value) {
                    add(.badHeader, "the value of the header \(name) holds a control character, such as CR, LF or NUL", "remove it")
                }
                if let first = value.utf8.first, let last = value.utf8.last, [first, last].contains(where: { $0 == 32 || $0 == 9 }) {
                    add(.badHeader, "the value of the header \(name) begins or ends with a blank, which receivers remove", "trim it")
                }
                if name == .contentType, HTTPFields.Field.isBlank(value) {
                    add(.badHeader, "the value of the header \(name) is blank", "give a media type, or omit the header")
                }
                let template = template(value, in: "the header \(name)", isSecret: SecretMask.hides(name))
                plan.headers.append(template.literal.map { .fixed(name, $0) } ?? .template(name, template))
            case .reflected(let argument):
                if let position = position(argument, in: ".headers(.argument(\(argument)))") { plan.headers.append(.reflected(position)) }
            case .argument(let name, let argument, let style):
                if !name.isValid {
                    add(.badHeader, "\"\(name.rawName)\" isn't a valid header name", "use only letters, digits and !#$%&'*+-.^_`|~")
                }
                if let position = position(argument, in: "the header \(name)") { plan.headers.append(.argument(name, position, style)) }
            case .cookie(let name, let argument, let style):
                if !HTTPFields.Name.isToken(name) {
                    add(.badHeader, "\"\(name)\" isn't a valid cookie name", "use only letters, digits and !#$%&'*+-.^_`|~")
                }
                if let position = position(argument, in: "the cookie \(name)") { plan.headers.append(.cookie(name, position, style)) }
            }
        }
    }

    mutating func compileCacheIdentifier() {
        guard let identifier = descriptor.cacheIdentifier else { return }
        if identifier.isEmpty {
            add(.badTemplate, "the cache identifier is empty", "give it a text such as \"orders/%%0%%\", or remove it")
        }
        plan.cacheIdentifier = template(identifier, in: "the cache identifier")
    }

    mutating func compileIdentifier() {
        guard let identifier = descriptor.identifier else { return }
        if identifier.text.isEmpty {
            add(.badTemplate, "the call's identifier is empty", "give it a text such as \"orders/%%0%%\", or remove it")
        }
        plan.identifier = (template(identifier.text, in: "the call's identifier"), identifier.policy)
    }

    mutating func compileBody() {
        let method = descriptor.method
        let neverHasBody = method == .head || method == "TRACE"
        if descriptor.allowsBody, neverHasBody {
            add(.unfitBody, "a \(method) never has a body", "remove .allowingBody(), or use another method")
        }
        let takesBody = method.usuallyHasBody || descriptor.allowsBody && !neverHasBody
        if case .argument(let argument) = descriptor.body {
            if method == .get, !descriptor.allowsBody {
                add(
                    .unfitBody, "a \(method) has no body",
                    "put the argument into the query, use POST, or add .allowingBody() if the service requires a body")
            } else if neverHasBody {
                add(.unfitBody, "a \(method) has no body", "put the argument into the query, or use POST")
            }
            plan.body = position(argument, in: ".body(.argument(\(argument)))")
        }
        compileBodyTypes()
        let unused = (0..<names.count).filter { !used.contains($0) }
        if case .implicit = descriptor.body, takesBody, unused.count == 1 {
            plan.body = unused[0]
            return
        }
        for position in unused {
            let fix =
                takesBody
                ? "make it the body with .body(.argument(\(position))), use it in the route, or exclude it with .ignoring"
                : "use it in the route or the query, or exclude it with .ignoring"
            add(.unusedArgument, "\(names.description(of: position)) isn't used", fix)
        }
    }

    /// Whether a request can have a body: one that an argument or, without an argument, a preparer gives it.
    private var mayHaveBody: Bool {
        if case .none = descriptor.body { return false }
        return plan.body != nil || descriptor.method.usuallyHasBody || descriptor.allowsBody
    }

    mutating func checkSettings() {
        if let statuses = descriptor.settings.statuses, statuses.isEmpty {
            add(.badStatuses, "no status counts as success", "give .accepting(…) at least one status")
        }
        faults += TrustCheck.faults(descriptor.settings, key: key)
        faults += SettingsCheck.faults(descriptor.settings, key: key, method: descriptor.method, mayHaveBody: mayHaveBody)
        if case .off? = descriptor.settings.parsing, !plan.payloadRoot.isEmpty {
            add(
                .unusedRoot, "the body is .raw(), so \"\(descriptor.root.joined(separator: "."))\" isn't looked up in it",
                "remove one of the two")
        }
        if descriptor.root.contains("") {
            add(
                .badRoot, "the path \"\(descriptor.root.joined(separator: "."))\" of the value has an empty name",
                "separate names with a single dot, or pass an array if a name contains a dot")
        }
    }

    /// Returns the template with its literals encoded as plain values.
    private static func plainEncoded(_ template: Template) -> Template {
        Template(
            pieces: template.pieces.map { piece in
                if case .literal(let text) = piece { .literal(URLEncoding.queryValue(text)) } else { piece }
            })
    }
}

// The path and query of the route.
extension EndpointCompiler {
    mutating func compileRoute() {
        switch descriptor.route {
        case .uriTemplate(let text): compileURITemplate(text)
        case .template(let text): compileTemplate(text)
        }
    }

    private mutating func compileURITemplate(_ text: String) {
        do {
            let template = try URITemplate(text)
            checkForm(of: template, text)
            var positions: [String: Int] = [:]
            for variable in template.variables {
                let name = descriptor.aliases[variable] ?? URLEncoding.decode(variable).flatMap { descriptor.aliases[$0] } ?? variable
                switch names.resolve(name) {
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

    /// Checks for faults that plain routes can have too: parts that belong to the root, and parts that are never sent.
    private mutating func checkForm(of template: URITemplate, _ text: String) {
        if Substring(text.unicodeScalars.prefix { $0 != "{" && $0 != "?" }).range(ofMark: "://") != nil {
            add(.badTemplate, "the URI template \"\(text)\" is an absolute URL", "give only the path, which follows the service root")
        }
        let path = text.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        if path.split(separator: "/").contains(where: { URLEncoding.isDotSegment(String($0)) }) {
            add(.badTemplate, "the URI template \"\(text)\" has a \".\" or \"..\" segment", "write the path that it leads to")
        }
        if template.hasFragment {
            add(
                .badTemplate, "the URI template \"\(text)\" has a fragment, which is never sent",
                "remove {#…} or \"#\", or write it as %23")
        }
    }

    private mutating func compileTemplate(_ text: String) {
        let question = text.unicodeScalars.firstIndex(of: "?") ?? text.endIndex
        let path = text[..<question]
        if text.unicodeScalars.contains("#") {
            add(.badTemplate, "the route \"\(text)\" has a fragment, which is never sent", "remove \"#\", or write it as %23")
        }
        if path.range(ofMark: "://") != nil {
            add(.badTemplate, "the route \"\(text)\" is an absolute URL", "give only the path, which follows the service root")
        }
        if path.split(mark: "%%").count == 3, path.utf8.starts(with: "%%".utf8), path.utf8.reversed().starts(with: "%%".utf8),
            let argument = template(path, in: "the route").onlyArgument
        {
            plan.path = .whole(argument)
        } else {
            let segments = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map { segment in
                Self.encoded(template(Substring(segment), in: "the route"), allowing: .pathSegment)
            }
            if segments.allSatisfy({ $0.literal != nil }) {
                plan.path = .fixed(segments.compactMap(\.literal).joined(separator: "/"))
            } else {
                plan.path = .segments(segments)
            }
        }
        guard question < text.endIndex else { return }
        for pair in text.unicodeScalars[text.unicodeScalars.index(after: question)...].split(separator: "&").map(Substring.init) {
            let equals = pair.unicodeScalars.firstIndex(of: "=")
            let name = template(pair[..<(equals ?? pair.endIndex)], in: "the query")
            let value = equals.map { template(pair[pair.unicodeScalars.index(after: $0)...], in: "the query") }
            addPair(Self.encoded(name, allowing: .query), value.map { Self.encoded($0, allowing: .query) })
        }
    }

    mutating func addPair(_ name: Template, _ value: Template?) {
        if let fixedName = name.literal, value.map({ $0.literal != nil }) ?? true {
            plan.query.append(.fixed(value.flatMap(\.literal).map { fixedName + "=" + $0 } ?? fixedName))
        } else {
            plan.query.append(.pair(name: name, value: value))
        }
    }

    /// Returns the template with its literals encoded for that part of a URL; valid escapes are kept.
    private static func encoded(_ template: Template, allowing alphabet: URLEncoding.Alphabet) -> Template {
        Template(
            pieces: template.pieces.map { piece in
                if case .literal(let text) = piece { .literal(URLEncoding.repaired(text, allowing: alphabet)) } else { piece }
            })
    }
}
