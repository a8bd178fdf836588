// What modifiers say beside the route: query items, headers, the body, settings.
extension EndpointCompiler {
    mutating func compileQuery() {
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

    mutating func compileHeaders() {
        for part in descriptor.headers {
            switch part {
            case .template(let name, let value):
                if !name.isValid {
                    add(.badHeader, "\"\(name.rawName)\" is no header name", "only letters, digits and !#$%&'*+-.^_`|~ may stand in it")
                }
                if HTTPFields.Field.hasControls(value) {
                    add(.badHeader, "the value of the header \(name) holds a control character, such as CR, LF or NUL", "take it out")
                }
                if let first = value.utf8.first, let last = value.utf8.last, [first, last].contains(where: { $0 == 32 || $0 == 9 }) {
                    add(.badHeader, "the value of the header \(name) begins or ends with a blank, which receivers take away", "trim it")
                }
                if name == .contentType, HTTPFields.Field.isBlank(value) {
                    add(.badHeader, "the value of the header \(name) is blank", "give a media type, or leave the header out")
                }
                let template = template(value, in: "the header \(name)", isSecret: SecretMask.hides(name))
                plan.headers.append(template.literal.map { .fixed(name, $0) } ?? .template(name, template))
            case .reflected(let argument):
                if let position = position(argument, in: ".headers(.argument(\(argument)))") { plan.headers.append(.reflected(position)) }
            }
        }
    }

    mutating func compileCacheIdentifier() {
        guard let identifier = descriptor.cacheIdentifier else { return }
        if identifier.isEmpty {
            add(.badTemplate, "the cache identifier is empty", "give it a text such as \"orders/%%0%%\", or take it away")
        }
        plan.cacheIdentifier = template(identifier, in: "the cache identifier")
    }

    mutating func compileBody() {
        let method = descriptor.method
        let neverHasBody = method == .head || method == "TRACE"
        if descriptor.allowsBody, neverHasBody {
            add(.unfitBody, "a \(method) never has a body", "take .allowingBody() away, or use another method")
        }
        let takesBody = method.usuallyHasBody || descriptor.allowsBody && !neverHasBody
        if case .argument(let argument) = descriptor.body {
            if method == .get, !descriptor.allowsBody {
                add(
                    .unfitBody, "a \(method) has no body",
                    "put the argument into the query, use POST, or add .allowingBody() where the service wants it so")
            } else if neverHasBody {
                add(.unfitBody, "a \(method) has no body", "put the argument into the query, or use POST")
            }
            plan.body = position(argument, in: ".body(.argument(\(argument)))")
        }
        let unused = (0..<names.count).filter { !used.contains($0) }
        if case .implicit = descriptor.body, takesBody, unused.count == 1 {
            plan.body = unused[0]
            return
        }
        for position in unused {
            let fix =
                takesBody
                ? "say which one is the body with .body(.argument(\(position))), use it in the route, or leave it out with .ignoring"
                : "use it in the route or the query, or leave it out with .ignoring"
            add(.unusedArgument, "\(names.description(of: position)) is used by nothing", fix)
        }
    }

    mutating func checkSettings() {
        if let statuses = descriptor.settings.statuses, statuses.isEmpty {
            add(.badStatuses, "no status counts as success", "give .accepting(…) at least one status")
        }
        faults += TrustCheck.faults(descriptor.settings, key: key)
        if case .off? = descriptor.settings.parsing, !plan.payloadRoot.isEmpty {
            add(
                .unusedRoot, "the body is .raw(), so that nothing looks for \"\(descriptor.root.joined(separator: "."))\" in it",
                "take one of the two away")
        }
        if descriptor.root.contains("") {
            add(
                .badRoot, "\"\(descriptor.root.joined(separator: "."))\" as the place of the value has an empty name",
                "write names with one dot between them, or as an array where a name has a dot")
        }
    }

    /// The template with its literals encoded as plain values.
    private static func plainEncoded(_ template: Template) -> Template {
        Template(
            pieces: template.pieces.map { piece in
                if case .literal(let text) = piece { .literal(URLEncoding.queryValue(text)) } else { piece }
            })
    }
}
