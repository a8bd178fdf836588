/// Parses, joins and resolves URLs as text (RFC 3986), with the same results on every platform.
///
/// Percent-encoding is kept: only dot segments are removed, where the RFC requires it, and only ``repaired(_:)`` encodes.
public enum URLText {
    /// Returns the base and a relative part as one URL, with exactly one slash between their paths.
    ///
    /// If one part is empty, returns the other. The base's query is kept and comes first, joined to the other's by `&`; a fragment of the
    /// relative part replaces the base's. A relative part that starts with `?` or `#` adds no slash. The relative part is never read as
    /// having a scheme or an authority. To follow a reference instead, see ``resolve(_:against:)``.
    public static func joined(_ base: String, _ relative: String) -> String {
        if relative.isEmpty { return base }
        if base.isEmpty { return relative }
        return joinedAtSlash(base, relative) ?? joinedByParts(base, relative)
    }

    /// The common case, without parsing: the base ends with its path, and the relative part starts with one.
    private static func joinedAtSlash(_ base: String, _ relative: String) -> String? {
        let marks = (question: UInt8(ascii: "?"), hash: UInt8(ascii: "#"), slash: UInt8(ascii: "/"))
        // Works on contiguous bytes, because iterating over a string's characters is slower.
        return base.utf8.withContiguousStorageIfAvailable { base in
            relative.utf8.withContiguousStorageIfAvailable { relative -> String? in
                guard let first = relative.first, first != marks.question, first != marks.hash,
                    !base.contains(where: { $0 == marks.question || $0 == marks.hash })
                else { return nil }
                var head = base.count
                while head > 0, base[head - 1] == marks.slash { head -= 1 }
                // If the base is only slashes or ends with a colon, a slash may change its parts: `joinedByParts` decides.
                guard head > 0, base[head - 1] != UInt8(ascii: ":") else { return nil }
                var tail = 0
                while tail < relative.count, relative[tail] == marks.slash { tail += 1 }
                let count = head + 1 + relative.count - tail
                return String(unsafeUninitializedCapacity: count) { text in
                    _ = text.update(fromContentsOf: base[..<head])
                    text[head] = marks.slash
                    _ = text[(head + 1)...].update(fromContentsOf: relative[tail...])
                    return count
                }
            } ?? nil
        } ?? nil
    }

    static func joinedByParts(_ base: String, _ relative: String) -> String {
        var whole = Components(base)
        let tail = Components(pathAndRest: relative)
        if whole.path.isEmpty, whole.authority == nil {
            whole.path = tail.path
        } else if !tail.path.isEmpty {
            let slash = UInt8(ascii: "/")
            let trailing = whole.path.utf8.reversed().prefix { $0 == slash }.count
            let head = Substring(whole.path.utf8.dropLast(trailing))
            let rest = Substring(tail.path.utf8.drop { $0 == slash })
            whole.path = "\(head)/\(rest)"
        }
        whole.query = joinedQueries(whole.query, tail.query)
        whole.fragment = tail.fragment ?? whole.fragment
        return whole.text
    }

    /// Returns two queries without their `?` as one, joined by a single `&` regardless of a trailing or leading `&`. If one is empty,
    /// returns the other.
    public static func joinedQueries(_ first: String?, _ second: String?) -> String? {
        guard let first, !first.isEmpty else { return second ?? first }
        guard let second, !second.isEmpty else { return first }
        let ampersand = UInt8(ascii: "&")
        let head = Substring(first.utf8.dropLast(first.utf8.reversed().prefix { $0 == ampersand }.count))
        let tail = Substring(second.utf8.drop { $0 == ampersand })
        return head.isEmpty || tail.isEmpty ? String(head + tail) : "\(head)&\(tail)"
    }

    /// Resolves a reference against a base (RFC 3986 section 5.2, strict). The result is an absolute URL if the base is one.
    ///
    /// The base's fragment is ignored. A path gets a leading dot segment if the text would otherwise parse to other parts (sections 5.3 and
    /// 4.2): without an authority if it begins with `//`, and without a scheme if its first segment looks like one.
    public static func resolve(_ reference: String, against base: String) -> String {
        let base = Components(base)
        var target = Components(reference)
        if target.scheme != nil {
            target.path = removingDotSegments(target.path)
        } else {
            target.scheme = base.scheme
            if target.authority != nil {
                target.path = removingDotSegments(target.path)
            } else {
                target.authority = base.authority
                if target.path.isEmpty {
                    target.path = base.path
                    target.query = target.query ?? base.query
                } else if target.path.utf8.first == UInt8(ascii: "/") {
                    target.path = removingDotSegments(target.path)
                } else {
                    target.path = removingDotSegments(merged(target.path, onto: base))
                }
            }
        }
        return target.text
    }

    /// Returns the path without `.` and `..` segments; each `..` also removes the segment before it (RFC 3986 section 5.2.4).
    ///
    /// `..` at the root is dropped. Encoded dots are left alone.
    public static func removingDotSegments(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        let slash = UInt8(ascii: "/")
        var output: [UInt8] = []
        output.reserveCapacity(path.utf8.count)
        var input = Substring(path).utf8
        // Leading "./" and "../" of a relative path are dropped.
        while let step = ["../", "./"].first(where: { input.starts(with: $0.utf8) }) { input = input.dropFirst(step.utf8.count) }
        if input.elementsEqual(".".utf8) || input.elementsEqual("..".utf8) { return "" }
        while !input.isEmpty {
            let hasSlash = input.first == slash
            let segment = (hasSlash ? input.dropFirst() : input).prefix { $0 != slash }
            input = input.dropFirst(segment.count + (hasSlash ? 1 : 0))
            let isOneUp = segment.elementsEqual("..".utf8)
            guard hasSlash, isOneUp || segment.elementsEqual(".".utf8) else {
                if hasSlash { output.append(slash) }
                output.append(contentsOf: segment)
                continue
            }
            if isOneUp {
                while let last = output.popLast(), last != slash {}
            }
            if input.isEmpty { output.append(slash) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the URL with invalid bytes in each component encoded and complete `%XX` kept, to repair a `Location` or a next link.
    ///
    /// Spaces, quotes, lone percent signs, control characters and non-ASCII text are encoded. The host is encoded by its UTF-8 bytes, not
    /// translated to its `xn--` form. A valid URL is returned unchanged.
    public static func repaired(_ text: String) -> String {
        var components = Components(text)
        if let authority = components.authority { components.authority = repairedAuthority(authority) }
        components.path = URLEncoding.repaired(components.path, allowing: .path)
        components.query = components.query.map { URLEncoding.repaired($0, allowing: .query) }
        components.fragment = components.fragment.map { URLEncoding.repaired($0, allowing: .fragment) }
        return components.text
    }
}

extension URLText {
    /// RFC 3986 section 5.2.3: replaces everything after the last slash of the base's path with the reference's path.
    private static func merged(_ path: String, onto base: Components) -> String {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return base.path[...slash] + path
    }

    private static func repairedAuthority(_ authority: String) -> String {
        var rest = authority[...]
        var repaired = ""
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            repaired = URLEncoding.repaired(String(rest[..<at]), allowing: .userInformation) + "@"
            rest = rest[rest.utf8.index(after: at)...]
        }
        let isAddress = rest.utf8.first == UInt8(ascii: "[")
        let alphabet = URLEncoding.Alphabet.hostName.union(.init(isAddress ? ":[]" : ":"))
        return repaired + URLEncoding.repaired(String(rest), allowing: alphabet)
    }
}

extension URLText {
    /// The five parts of a URL or a relative reference, as written (RFC 3986 section 3 and appendix B).
    ///
    /// Any text can be parsed, and the parts produce the same text when joined. Only the scheme's spelling is checked. An absent part is
    /// `nil`, which differs from an empty part: `a?` has an empty query, `a` has none.
    public struct Components: Hashable, Sendable {
        /// The text before the first colon, if it has the form of a scheme, in its original case.
        public var scheme: String?
        /// The text between `//` and the path: user information, host and port.
        public var authority: String?
        /// The path, which may be empty.
        public var path: String
        /// The text between `?` and the fragment.
        public var query: String?
        /// The text after `#`.
        public var fragment: String?

        /// Parses a URL or a relative reference.
        public init(_ text: String) {
            var rest = text[...]
            scheme = Self.takeScheme(from: &rest)
            let slashes = rest.utf8.prefix(2)
            if slashes.count == 2, slashes.allSatisfy({ $0 == UInt8(ascii: "/") }) {
                let start = rest.utf8.index(rest.startIndex, offsetBy: 2)
                let end = rest.utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
                authority = String(rest[start..<end])
                rest = rest[end...]
            }
            let tail = Components(pathAndRest: rest)
            (path, query, fragment) = (tail.path, tail.query, tail.fragment)
        }

        /// Parses text that has neither scheme nor authority, even if it seems to have one.
        package init(pathAndRest text: some StringProtocol) {
            var rest = Substring(text)
            if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
                fragment = String(rest[rest.utf8.index(after: hash)...])
                rest = rest[..<hash]
            }
            if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
                query = String(rest[rest.utf8.index(after: mark)...])
                rest = rest[..<mark]
            }
            path = String(rest)
        }

        /// The joined parts (RFC 3986 section 5.3).
        ///
        /// A path that would parse as an authority or a scheme, because the URL has none, gets a leading dot segment.
        public var text: String {
            var text = ""
            if let scheme {
                text.append(scheme)
                text.append(":")
            }
            if let authority {
                text.append("//")
                text.append(authority)
                if !path.isEmpty, path.utf8.first != UInt8(ascii: "/") { text.append("/") }
            } else if path.utf8.starts(with: "//".utf8) {
                text.append("/.")
            } else if scheme == nil, pathLooksLikeScheme {
                text.append("./")
            }
            text.append(path)
            if let query {
                text.append("?")
                text.append(query)
            }
            if let fragment {
                text.append("#")
                text.append(fragment)
            }
            return text
        }
    }
}

extension URLText.Components {
    /// The text before the last `@` of the authority: user name and password as written. A secret that must never be printed.
    public var userInformation: String? {
        guard let authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        return String(authority[..<at])
    }

    /// The host as written, with brackets around an IPv6 address; `nil` without an authority.
    public var host: String? { hostAndPort.map { String($0.host) } }

    /// The text after the host's colon: nil without a colon, empty if nothing follows it, and not necessarily a number.
    public var portText: String? { hostAndPort?.port.map { String($0) } }

    /// The port, if it is a decimal number between 0 and 65535.
    public var port: Int? {
        guard let digits = portText, !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits) else {
            return nil
        }
        return number <= 65_535 ? number : nil
    }

    private var hostAndPort: (host: Substring, port: Substring?)? {
        guard let authority else { return nil }
        var rest = authority[...]
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.utf8.index(after: at)...] }
        var search = rest.utf8[...]
        if rest.utf8.first == UInt8(ascii: "["), let bracket = rest.utf8.firstIndex(of: UInt8(ascii: "]")) { search = search[bracket...] }
        guard let colon = search.lastIndex(of: UInt8(ascii: ":")) else { return (rest, nil) }
        return (rest[..<colon], rest[rest.utf8.index(after: colon)...])
    }

    private var pathLooksLikeScheme: Bool {
        var rest = path[...]
        return Self.takeScheme(from: &rest) != nil
    }

    /// Removes a leading `scheme:`: a letter, then letters, digits, `+`, `-` or `.` (RFC 3986 section 3.1).
    private static func takeScheme(from rest: inout Substring) -> String? {
        guard let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), let first = rest.utf8.first else { return nil }
        let name = rest.utf8[..<colon]
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard letters.contains(first | 0x20), name.allSatisfy({ schemeCharacters.contains($0) }) else { return nil }
        defer { rest = rest[rest.utf8.index(after: colon)...] }
        return String(rest[..<colon])
    }

    private static let schemeCharacters = URLEncoding.Alphabet.alphanumeric.union(.init("+-."))
}
