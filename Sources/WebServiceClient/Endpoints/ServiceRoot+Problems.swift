import Foundation

// What a service root can have wrong, with the fix.
extension ServiceRoot {
    static func problem(in text: String) -> (String, String)? {
        let example = "write it like \"https://api.example.com/v1\""
        guard !text.utf8.contains(where: { $0 <= 32 || $0 >= 127 }) else {
            return ("holds blanks, controls or characters beyond ASCII", "percent-encode the path and write the host in punycode")
        }
        // The authority first, by its text: Foundation makes no URL of a wrong one, and says nothing of why.
        if let problem = problem(inAuthorityOf: text) { return problem }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), !scheme.isEmpty else {
            return (hasScheme(text) ? "is no URL" : "has no scheme", example)
        }
        guard scheme == "http" || scheme == "https" else { return ("has the scheme \"\(scheme)\"", "use https or http") }
        guard Origin(url) != nil else { return ("has no host", example) }
        guard url.user == nil, url.password == nil else { return ("holds credentials", "give them to an authentication provider") }
        guard url.fragment == nil else { return ("has a fragment, which is never sent", "take it out") }
        return nil
    }

    private static func hasScheme(_ text: String) -> Bool {
        text.range(of: "://").map { $0.lowerBound > text.startIndex } ?? false
    }

    private static func problem(inAuthorityOf text: String) -> (String, String)? {
        guard let start = text.range(of: "://")?.upperBound else { return nil }
        let scheme = text[..<start].lowercased()
        // User info isn't looked at: it is refused by itself, and not to be shown.
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let place = authority.split(separator: "@").last else { return nil }
        if let right = bracketed(place) {
            return ("has an IPv6 address without brackets", "write it like \"\(scheme)\(right)\"")
        }
        guard let colon = place.lastIndex(of: ":"), !place[colon...].contains("]") else { return nil }
        let port = place[place.index(after: colon)...]
        guard !port.isEmpty else { return nil }
        guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), (1...65_535).contains(Int(port) ?? 0) else {
            return ("has a port that there can't be", "give a number from 1 to 65535, or leave it out for the scheme's own")
        }
        return nil
    }

    /// An IPv6 address without brackets as it should stand there; `nil` where there is none. What could be its last group or a port counts
    /// as a port: who writes no brackets means to end the address there.
    private static func bracketed(_ place: Substring) -> String? {
        guard !place.hasPrefix("["), let colon = place.lastIndex(of: ":") else { return nil }
        let (address, port) = (place[..<colon], place[place.index(after: colon)...])
        if IPAddress.isVersion6(String(address)), let number = Int(port), (1...65_535).contains(number) { return "[\(address)]:\(port)" }
        return IPAddress.isVersion6(String(place)) ? "[\(place)]" : nil
    }
}
