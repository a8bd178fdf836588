// Path and query as the route writes them.
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

    /// The faults that a plain route has too: what the root is for, and what is never sent.
    private mutating func checkForm(of template: URITemplate, _ text: String) {
        if Substring(text.unicodeScalars.prefix { $0 != "{" && $0 != "?" }).range(ofMark: "://") != nil {
            add(.badTemplate, "the URI template \"\(text)\" is an absolute URL", "give the path only; the service root stands before it")
        }
        let path = text.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        if path.split(separator: "/").contains(where: { URLEncoding.isDotSegment(String($0)) }) {
            add(.badTemplate, "the URI template \"\(text)\" has a \".\" or \"..\" segment", "write the path that it leads to")
        }
        if template.hasFragment {
            add(
                .badTemplate, "the URI template \"\(text)\" has a fragment, which is never sent",
                "take {#…} or \"#\" out, or write it as %23")
        }
    }

    private mutating func compileTemplate(_ text: String) {
        let question = text.unicodeScalars.firstIndex(of: "?") ?? text.endIndex
        let path = text[..<question]
        if text.unicodeScalars.contains("#") {
            add(.badTemplate, "the route \"\(text)\" has a fragment, which is never sent", "take \"#\" out, or write it as %23")
        }
        if path.range(ofMark: "://") != nil {
            add(.badTemplate, "the route \"\(text)\" is an absolute URL", "give the path only; the service root stands before it")
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

    /// The template with its literals repaired to what may stand in that part of a URL; valid escapes are kept.
    private static func encoded(_ template: Template, allowing alphabet: URLEncoding.Alphabet) -> Template {
        Template(
            pieces: template.pieces.map { piece in
                if case .literal(let text) = piece { .literal(URLEncoding.repaired(text, allowing: alphabet)) } else { piece }
            })
    }
}
