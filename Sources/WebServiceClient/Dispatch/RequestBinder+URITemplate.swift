// A path by a URI template (RFC 6570): its values may not lead to another resource than the template's.
extension RequestBinder {
    func expand(_ template: URITemplate, _ positions: [String: Int]) throws -> String {
        var blank: Set<String> = []
        var empty: Set<String> = []
        var made: [(name: String, bytes: Range<Int>)] = []
        let expansion = try template.expand(
            { variable in
                guard let position = positions[variable], let argument = arguments[position] else {
                    blank.insert(variable)
                    return .undefined
                }
                do {
                    let value = try URITemplate.Value(reflecting: argument)
                    if value.isBlank { blank.insert(variable) }
                    if value.hasEmptyText { empty.insert(variable) }
                    return value
                } catch {
                    throw self.error(position, "the URI template", reason(error, position))
                }
            },
            noting: { made.append(($0, $1)) })
        if !blank.isEmpty || !empty.isEmpty, let variable = template.blankInPath(blank, empty: empty) {
            throw error(
                positions[variable] ?? 0, "the path",
                "it is nil or empty, and without it the path names another resource; {/name} stands for a segment that may be nil.")
        }
        // Whose bytes they are. The template's own dot segments and fragments are found when it is compiled.
        func position(making bytes: Range<Int>) -> Int {
            made.last { $0.bytes.overlaps(bytes) }.flatMap { positions[$0.name] } ?? positions.values.min() ?? 0
        }
        let bytes = Array(expansion.utf8)
        if let hash = bytes.firstIndex(of: UInt8(ascii: "#")) {
            throw error(
                position(making: hash..<hash + 1), "the URI template",
                "it has a \"#\", which begins a fragment, and that is never sent; write it as %23, or the variable as {name} without \"+\"."
            )
        }
        let path = bytes[..<(bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex)]
        if path.starts(with: "//".utf8), made.contains(where: { $0.bytes.overlaps(0..<2) }) {
            throw error(
                position(making: 1..<2), "the path", "it makes an empty segment at the path's beginning; take its leading slash out.")
        }
        for segment in path.split(separator: UInt8(ascii: "/")) where URLEncoding.isDotSegment(String(decoding: segment, as: UTF8.self)) {
            throw error(
                position(making: segment.startIndex..<segment.endIndex), "the path",
                "it makes a \".\" or \"..\" segment, which leads to another resource.")
        }
        return Self.withoutBrackets(expansion)
    }

    /// A reserved expansion keeps brackets (RFC 6570 §3.2.3), which may stand raw in a host only (RFC 3986 appendix A): Foundation would take
    /// the whole for text that isn't encoded, and encode its escapes once more.
    private static func withoutBrackets(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) else { return text }
        return text.replacing("[", with: "%5B").replacing("]", with: "%5D")
    }
}
