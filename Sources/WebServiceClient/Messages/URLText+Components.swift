extension URLText {
    /// The five parts of a URL or a relative reference, each as it was written (RFC 3986 section 3 and appendix B).
    ///
    /// Any text can be taken apart, and gives the same text when put together again; nothing is checked but the scheme's spelling. A
    /// nil part is absent, an empty one is there with nothing in it: `a?` has an empty query, `a` has none.
    public struct Components: Hashable, Sendable {
        /// What stands before the first colon, if it is spelled like a scheme; in the case it was written in.
        public var scheme: String?
        /// What stands between `//` and the path: user information, host and port.
        public var authority: String?
        /// The path, perhaps empty.
        public var path: String
        /// What stands between `?` and the fragment.
        public var query: String?
        /// What stands after `#`.
        public var fragment: String?

        /// The parts of a URL or a relative reference.
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

        /// The parts of text which has neither scheme nor authority, whatever it looks like.
        init(pathAndRest text: some StringProtocol) {
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

        /// The parts put together (RFC 3986 section 5.3).
        ///
        /// Where a path would be read as an authority or a scheme, a dot segment in front keeps it a path.
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
    /// What stands before the last `@` of the authority: user name and password as written. A secret; print it nowhere.
    public var userInformation: String? {
        guard let authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        return String(authority[..<at])
    }

    /// The host as written, IPv6 addresses in their brackets; nil without an authority.
    public var host: String? { hostAndPort.map { String($0.host) } }

    /// The text after the host's colon: nil without a colon, empty where nothing follows it, and not always a number.
    public var portText: String? { hostAndPort?.port.map { String($0) } }

    /// The port, if there is one between 0 and 65535 in decimal digits.
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

    /// Takes `scheme:` off the front: a letter, then letters, digits, `+`, `-` or `.` (RFC 3986 section 3.1).
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
