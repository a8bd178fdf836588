/// The path of a resource from the service's root (URL Conventions, section 4).
public struct ResourcePath: Sendable, Hashable {
    /// One property of a key; a key of a single property needs no name.
    public struct KeyPart: Sendable, Hashable {
        /// The property's wire name.
        public var name: String?
        /// Its value.
        public var value: EdmValue
    }

    /// One step.
    public enum Segment: Sendable, Hashable {
        /// An entity set, singleton, property or whatever else the text says: OData's own spelling, not percent-encoded.
        case raw(String)
        /// `(5)`, `(A=1,B='x')`, behind the segment before.
        case key([KeyPart])
        /// `/$count`.
        case count
    }

    /// The steps, from the root on.
    public var segments: [Segment]

    /// A path of OData's own spelling, not percent-encoded.
    public init(_ text: String) {
        segments = [.raw(text)]
    }

    func appending(_ segment: Segment) -> ResourcePath {
        var copy = self
        copy.segments.append(segment)
        return copy
    }
}

extension ResourcePath: CustomStringConvertible {
    /// The path for people.
    public var description: String {
        segments.map { segment in
            switch segment {
            case .raw(let text): text
            case .key: "(…)"
            case .count: "/$count"
            }
        }.joined()
    }
}

extension QueryPrinter {
    /// The path of a resource, percent-encoded.
    ///
    /// - Throws: ``ODataQueryError`` where a part can't be said.
    public func text(of resource: ResourcePath) throws(ODataQueryError) -> String {
        var text = QueryText()
        for segment in resource.segments {
            switch segment {
            case .raw(let raw):
                try check(raw)
                text.raw(raw)
            case .key(let parts):
                text.syntax("(")
                try write(parts, to: &text)
                text.syntax(")")
            case .count:
                text.syntax("/$count")
            }
        }
        return text.text
    }

    private func write(_ key: [ResourcePath.KeyPart], to text: inout QueryText) throws(ODataQueryError) {
        guard !key.isEmpty else { throw .invalidOption("key", reason: "it has no value") }
        for (index, part) in key.enumerated() {
            if index > 0 { text.syntax(",") }
            if let name = part.name {
                guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of a key property") }
                text.value(name)
                text.syntax("=")
            } else if key.count > 1 {
                throw .invalidOption("key", reason: "each value of a key of several properties needs its property's name")
            }
            switch part.value {
            case .null, .double, .single, .binary:
                throw .unsupportedLiteral("\(part.value)", reason: "no key property has such a value")
            default:
                try literals.write(part.value, to: &text)
            }
        }
    }

    private func check(_ raw: String) throws(ODataQueryError) {
        guard !raw.isEmpty else { throw .invalidPath(raw, reason: "it is empty") }
        var isQuoted = false
        var outside = ""
        for character in raw {
            if character == "'" { isQuoted.toggle() }
            outside.append(isQuoted ? "x" : character)
        }
        guard !isQuoted else { throw .invalidPath(raw, reason: "a quote isn't closed") }
        if let wrong = outside.first(where: { "?#%&".contains($0) }) {
            throw .invalidPath(raw, reason: "'\(wrong)' doesn't belong there; give query options by methods, and text not percent-encoded")
        }
        for segment in outside.split(separator: "/", omittingEmptySubsequences: false) where ["", ".", ".."].contains(segment) {
            throw .invalidPath(raw, reason: segment.isEmpty ? "it has an empty segment" : "it has the segment '\(segment)'")
        }
    }
}
