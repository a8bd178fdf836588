/// The way from the entity, or from a lambda variable, to what an expression speaks of: `Address/City`, `x1/Budget`, `Trips/$count`.
public struct QueryPath: Sendable, Hashable {
    /// Where a path begins.
    public enum Root: Sendable, Hashable {
        /// The entity that the query option is evaluated on; unwritten where a segment follows, else `$it`.
        case entity
        /// The element that an `any` or `all` looks at.
        case variable(LambdaVariable)
    }

    /// One step of a path.
    public enum Segment: Sendable, Hashable {
        /// A property or navigation property by its wire name.
        case property(String)
        /// A cast to a derived type by its qualified name.
        case cast(String)
        /// `$count`, the number of elements.
        case count
        /// A step whose name couldn't be found: printing the path throws this error.
        case unresolved(ODataQueryError)
    }

    /// Where the path begins.
    public var root: Root
    /// The steps after it.
    public var segments: [Segment]

    /// A path from its parts.
    public init(root: Root = .entity, segments: [Segment]) {
        self.root = root
        self.segments = segments
    }

    /// A path of property names from the entity; a `/` separates steps, and `$count` and qualified type names are understood.
    public init(_ text: String) {
        self.init(segments: Self.segments(of: text))
    }

    func appending(_ more: [Segment]) -> QueryPath {
        QueryPath(root: root, segments: segments + more)
    }

    static func segments(of text: String) -> [Segment] {
        text.split(separator: "/", omittingEmptySubsequences: false).map { part in
            if part == "$count" { return .count }
            let isAnnotation = part.hasPrefix("@")
            return part.contains(".") && !isAnnotation ? .cast(String(part)) : .property(String(part))
        }
    }

    /// The wire name where the path is one property of the entity itself.
    var singleName: String? {
        guard root == .entity, segments.count == 1, case .property(let name) = segments[0] else { return nil }
        return name
    }
}
