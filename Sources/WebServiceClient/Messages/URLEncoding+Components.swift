/// Values for the components of a URL. Each is encoded so that it can't leave its place: it adds no path segment, no query pair and
/// no fragment, and decoding gives back exactly the value.
extension URLEncoding {
    /// One path segment: only unreserved characters stand raw, `/` becomes `%2F`.
    ///
    /// `.` and `..` are unreserved and come out unchanged, yet a receiver reads them as steps in the path: refuse them first, see
    /// ``isDotSegment(_:)``.
    public static func pathSegment(_ value: String) -> String { encode(value) }

    /// The name of a query pair: only unreserved characters stand raw, a blank becomes `%20`, `+` becomes `%2B`.
    public static func queryName(_ name: String) -> String { encode(name) }

    /// The value of a query pair: only unreserved characters stand raw, a blank becomes `%20`, `+` becomes `%2B`.
    public static func queryValue(_ value: String) -> String { encode(value) }

    /// A fragment (RFC 3986 section 3.5): delimiters are data there, so they stay readable; `#` and `%` don't.
    public static func fragment(_ value: String) -> String { encode(value, allowing: .fragment) }

    /// Whether a path segment means "here" or "one up": `.` or `..`, its dots raw or as `%2E`, as many servers and proxies decode
    /// them first.
    public static func isDotSegment(_ segment: String) -> Bool {
        guard segment.utf8.count <= 6, let first = segment.utf8.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "%") else {
            return false
        }
        let plain = segment.contains("%") ? decode(segment) : segment
        return plain == "." || plain == ".."
    }
}
