import Foundation

// A description as text.
extension ClientDescription {
    /// The description as JSON, with sorted names and a line for each value. It ends with a line end.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts and whole numbers can always be encoded.
        guard let data = try? encoder.encode(self) else { return "" }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    /// The description as an API reference in Markdown.
    public var markdown: String {
        var lines = ["# \(Self.plain(client))", ""]
        if let root = defaults?.serviceRoot { lines += ["Service root: \(Self.code(root))", ""] }
        lines += Self.list(defaults.map { Self.points(of: $0) } ?? [])
        for method in perMethod ?? [] { lines += ["## Defaults of \(Self.plain(method.method))", ""] + Self.list(Self.points(of: method)) }
        for endpoint in endpoints { lines += Self.lines(of: endpoint) }
        return lines.joined(separator: "\n")
    }

    private static func lines(of endpoint: Endpoint) -> [String] {
        var lines = ["## \(code(endpoint.key))", "", code("\(endpoint.method) \(endpoint.route.isEmpty ? "/" : endpoint.route)"), ""]
        if let arguments = endpoint.arguments, !arguments.isEmpty {
            lines += ["| argument | goes to |", "|---|---|"]
            for argument in arguments {
                let name = argument.label == "_" ? "argument \(argument.position ?? 0)" : code(argument.label)
                var places = argument.position == nil ? "the method itself" : argument.places.joined(separator: ", ")
                if argument.isOptional == true { places += ", optional" }
                lines.append("| \(cell(name)) | \(cell(plain(places))) |")
            }
            lines.append("")
        }
        var points = endpoint.query.map { "Query item \(text(of: $0))" } + endpoint.headers.map { "Header \(text(of: $0))" }
        if endpoint.body == "none" { points.append("No body") }
        if endpoint.allowsBody == true { points.append("May have a body") }
        if let all = endpoint.encodings {
            points.append("Encodings of the body: \(plain(all.map(\.text).joined(separator: "; ")))")
        }
        if let types = endpoint.bodyTypes { points.append("Media types of the body: \(plain(types.joined(separator: ", ")))") }
        if let root = endpoint.serviceRoot { points.append("Service root: \(code(root))") }
        if endpoint.takesPartOfLabels == true {
            points.append("Calls may leave out the optional arguments, and pass the others in any order")
        }
        if let success = endpoint.success {
            points.append("Success: " + (success.hasPrefix("+ ") ? "also \(success.dropFirst(2))" : success))
        }
        if let root = endpoint.root { points.append("Result at \(code(root))") }
        if let identifier = endpoint.identifier { points.append("Identifier: \(code(identifier))") }
        if let identifier = endpoint.cacheIdentifier { points.append("Identifier of the cached response: \(code(identifier))") }
        points += Self.points(endpoint.settings, endpoint.requires, endpoint.attributes)
        return lines + list(points)
    }

    private static func points(of defaults: Defaults) -> [String] {
        defaults.headers.map { "Header \(text(of: $0))" } + (defaults.success.map { ["Success: \($0)"] } ?? [])
            + points(defaults.settings, defaults.requires, defaults.attributes)
    }

    private static func points(of defaults: MethodDefaults) -> [String] {
        defaults.fields.map { "Header \(text(of: $0))" } + (defaults.success.map { ["Success: \($0)"] } ?? [])
            + points(defaults.settings, defaults.requires, defaults.attributes)
    }

    private static func points(_ settings: Settings?, _ requires: [String], _ attributes: [String]) -> [String] {
        let named: [(String, String?)] = [
            ("Response", settings?.parsing), ("Serializer", settings?.serializer), ("Error handler", settings?.errorHandler),
            ("Arrays", settings?.arrays), ("URLs by", settings?.urlBuilder), ("Deadlines", settings?.deadlines),
            ("Limit of the body", settings?.bodyLimit.map { "\($0) bytes" }), ("Trust", settings?.trust),
            ("Requires", requires.isEmpty ? nil : requires.joined(separator: ", ")),
        ]
        return named.compactMap { name, value in value.map { "\(name): \(plain($0))" } } + attributes.map { plain($0) }
    }

    private static func text(of part: Part) -> String {
        if let argument = part.argument {
            let style = part.style.map { " (\(plain($0)))" } ?? ""
            return part.name == "…"
                ? "per field of argument \(code(argument))" : "\(code(part.name)) from argument \(code(argument))\(style)"
        }
        return part.value.map { "\(code(part.name)): \(code($0))" } ?? "\(code(part.name)), which isn't sent"
    }

    private static func list(_ points: [String]) -> [String] { points.isEmpty ? [] : points.map { "* \($0)" } + [""] }

    /// A text in a code span, which has more backticks around it than inside (CommonMark §6.1).
    private static func code(_ text: String) -> String {
        let text = oneLine(text)
        let longest = text.split(whereSeparator: { $0 != "`" }).map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: longest + 1)
        return longest > 0 || text.isEmpty ? "\(fence) \(text) \(fence)" : fence + text + fence
    }

    /// A text without markup (CommonMark §2.4).
    private static func plain(_ text: String) -> String {
        var result = ""
        for character in oneLine(text) {
            if "\\`*_{}[]<>#|~".contains(character) { result.append("\\") }
            result.append(character)
        }
        return result
    }

    /// A text in the cell of a table, in which only the bar isn't escaped yet.
    private static func cell(_ text: String) -> String {
        var result = ""
        for character in text {
            if character == "|", result.last != "\\" { result.append("\\") }
            result.append(character)
        }
        return result
    }

    private static func oneLine(_ text: String) -> String { VisibleText.of(text.split(whereSeparator: \.isNewline).joined(separator: " ")) }

    /// A part of a description as one line of JSON.
    static func text(of value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}

extension ClientDescription.PropertyEncoding {
    /// The encoding in words, such as `avatar in multipart/form-data: image/png`.
    var text: String { "\(property) in \(mediaType): " + [style, contentType].compactMap(\.self).joined(separator: ", ") }
}
