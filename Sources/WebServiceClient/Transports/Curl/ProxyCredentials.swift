/// Who asks a proxy for a tunnel, by what stands in `Proxy-Authorization`.
enum ProxyCredentials {
    /// A number that those have in common who show the same credentials, another one in each process: nothing can be read off it.
    ///
    /// A digest is another one in each request, for the same user and the same challenge (RFC 7616 §3.4), and whether it is right only the
    /// proxy can tell: who writes the field by himself, with somebody else's challenge, has the key of that one.
    ///
    /// - Parameter others: the key of what stands in the same field before it.
    static func key(_ value: String, with others: Int? = nil) -> Int {
        var hasher = Hasher()
        hasher.combine(others)
        let scheme = value.prefix { $0 != " " }
        guard scheme.lowercased() == "digest" else {
            hasher.combine(value)
            return hasher.finalize()
        }
        for parameter in parameters(value.dropFirst(scheme.count)) {
            let (name, rest) = split(parameter)
            guard ["username", "username*", "realm", "nonce", "userhash"].contains(name) else { continue }
            hasher.combine(name)
            hasher.combine(rest)
        }
        return hasher.finalize()
    }

    private static func split(_ parameter: Substring) -> (name: String, value: Substring) {
        let name = parameter.prefix { $0 != "=" }
        return (name.lowercased().filter { $0 != " " && $0 != "\t" }, parameter.dropFirst(name.count))
    }

    /// The parts between commas, as far as these aren't within quotation marks.
    private static func parameters(_ text: Substring) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return text.split { character in
            if isEscaped {
                isEscaped = false
                return false
            }
            switch character {
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            default: return character == "," && !isQuoted
            }
            return false
        }
    }
}
