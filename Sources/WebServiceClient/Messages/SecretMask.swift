package import Foundation

/// What must not be read in an error, a description or a log: one list for the whole library.
package enum SecretMask {
    /// What stands in place of a secret.
    package static let mask = "<masked>"

    /// Fields whose values are URLs.
    private static let urlNames: Set<String> = ["location", "content-location", "referer"]

    /// Words that make a name a secret's, wherever they stand in it: in lower case, and without `-`, `_`, `.` and blanks.
    package static let words = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "apikey", "accesskey", "privatekey", "subscriptionkey",
        "functionskey", "authkey", "accountkey", "sharedkey", "signingkey", "encryptionkey", "masterkey", "sessionid", "jwt", "signature",
        "credential", "authorization", "cookie", "authenticationinfo", "csrf", "xsrf", "bearer",
    ]

    /// Names that are a secret's as a whole, of four bytes at most.
    package static let wholeNames = ["pw", "pass", "auth", "cvv", "cvc", "pin", "otp", "sid"]

    /// Of parameters, too; in bodies these name too much else.
    private static let parameterNames = ["key", "sig", "code", "appid"]

    private static func isWord(_ name: String) -> Bool {
        let plain = plain(name)
        return wholeNames.contains(plain) || words.contains(where: plain.contains)
    }

    private static func plain(_ name: String) -> String {
        String(String.UnicodeScalarView(name.lowercased().unicodeScalars.filter { !"-_. ".unicodeScalars.contains($0) }))
    }

    /// Whether the value of a field of this name is a secret.
    package static func hides(_ name: HTTPFields.Name) -> Bool {
        let text = name.canonicalName
        return hidesParameter(named: text) || text.hasPrefix("x-") && isWord(String(text.dropFirst(2)))
    }

    /// Whether the value of a query or form parameter of this name is a secret.
    package static func hidesParameter(named name: String) -> Bool {
        parameterNames.contains(name.lowercased()) || isWord(name)
    }

    /// The field's value, or the mask. The scheme of an `Authorization` stays readable: it helps and tells nothing.
    package static func text(of field: HTTPFields.Field) -> String {
        guard hides(field.name) else { return urlNames.contains(field.name.canonicalName) ? text(ofURL: field.value) : field.value }
        if field.name == .authorization || field.name == .proxyAuthorization, let blank = field.value.unicodeScalars.firstIndex(of: " ") {
            return field.value[..<blank] + " " + mask
        }
        return mask
    }

    /// The text of a body with the secrets in a form's items and in the members of JSON masked, whatever the type says; other formats name
    /// nothing to go by.
    package static func text(ofBody body: String, contentType: String?) -> String {
        let type = contentType?.lowercased() ?? ""
        if type.hasPrefix("application/x-www-form-urlencoded") { return String(text(ofURL: "?" + body).dropFirst()) }
        let looksLikeJSON = body.first { !$0.isWhitespace }.map { $0 == "{" || $0 == "[" } ?? false
        guard type.contains("json") || looksLikeJSON, let pattern = try? NSRegularExpression(pattern: jsonMember) else { return body }
        var result = body
        for match in pattern.matches(in: body, range: NSRange(body.startIndex..., in: body)).reversed() {
            guard let name = Range(match.range(at: 1), in: body), let value = Range(match.range(at: 2), in: body),
                hidesMember(named: String(body[name]))
            else { continue }
            result.replaceSubrange(value, with: "\"" + mask + "\"")
        }
        return result
    }

    /// Whether a member of this name holds a secret.
    private static func hidesMember(named name: String) -> Bool {
        isWord(name)
    }

    /// A member's name and its value, where that is a text or a number. A text that the body's end cuts off counts too.
    private static let jsonMember = #""((?:[^"\\]|\\.)*+)"\s*+:\s*+("(?:[^"\\]|\\.)*+(?:"|\\?\z)|-?[0-9][0-9.eE+-]*)"#

    /// The text of a URL without user info and with the values of secret query parameters masked.
    package static func text(of url: URL) -> String {
        text(ofURL: url.absoluteString)
    }

    /// The same for a URL that is text already, in its fragment too: sign-in pages answer with tokens there.
    package static func text(ofURL url: String) -> String {
        var text = url
        let isRelative = text.utf8.starts(with: "//".utf8)
        if let start = text.range(ofMark: "://")?.upperBound ?? (isRelative ? text.utf8.index(text.startIndex, offsetBy: 2) : nil) {
            // By scalars: a combining mark behind a delimiter would make one character with it, and hide it.
            let authority = text.unicodeScalars[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") {
                text.replaceSubrange(start..<at, with: mask)
            }
        }
        let scalars = text.unicodeScalars
        let hash = scalars.firstIndex(of: "#") ?? scalars.endIndex
        var masked = text[..<hash]
        if let question = scalars[..<hash].firstIndex(of: "?") {
            let query = scalars.index(after: question)
            masked = text[..<query] + maskedPairs(text[query..<hash])
        }
        guard hash < text.endIndex else { return String(masked) }
        return masked + "#" + maskedPairs(text[scalars.index(after: hash)...])
    }

    private static func maskedPairs(_ pairs: Substring) -> String {
        pairs.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let name = String(pair[..<equals])
            // The placeholder of a route is no value.
            let isPlaceholder = pair[equals...].starts(with: "=%%".unicodeScalars)
            return hidesParameter(named: name.removingPercentEncoding ?? name) && !isPlaceholder ? name + "=" + mask : String(pair)
        }
        .joined(separator: "&")
    }
}
