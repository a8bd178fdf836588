package import Foundation

/// What must not be read in an error, a description or a log: one list for the whole library.
package enum SecretMask {
    /// What stands in place of a secret.
    package static let mask = "<masked>"

    /// Fields whose values are credentials by definition.
    private static let secretNames: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "authentication-info", "proxy-authentication-info",
        "x-api-key", "api-key", "x-auth-token", "x-csrf-token", "x-xsrf-token", "dd-api-key", "x-amz-security-token",
    ]

    /// Fields whose values are URLs.
    private static let urlNames: Set<String> = ["location", "content-location", "referer"]

    /// Words that make a field or a query parameter a secret when its name contains one.
    private static let secretWords = ["token", "secret", "password", "passwd", "apikey", "api-key", "api_key", "signature", "credential"]

    /// Whether the value of a field of this name is a secret.
    package static func hides(_ name: HTTPFields.Name) -> Bool {
        secretNames.contains(name.canonicalName) || hidesParameter(named: name.canonicalName)
    }

    /// Whether the value of a query or form parameter of this name is a secret.
    package static func hidesParameter(named name: String) -> Bool {
        let lowered = name.lowercased()
        return lowered == "key" || lowered == "sig" || lowered == "code" || secretWords.contains(where: lowered.contains)
    }

    /// The field's value, or the mask. The scheme of an `Authorization` stays readable: it helps and tells nothing.
    package static func text(of field: HTTPFields.Field) -> String {
        guard hides(field.name) else { return urlNames.contains(field.name.canonicalName) ? text(ofURL: field.value) : field.value }
        if field.name == .authorization || field.name == .proxyAuthorization, let blank = field.value.firstIndex(of: " ") {
            return field.value[..<blank] + " " + mask
        }
        return mask
    }

    /// The text of a body with the secrets in a form's items and in the members of JSON masked; other formats name nothing to go by.
    package static func text(ofBody body: String, contentType: String?) -> String {
        let type = contentType?.lowercased() ?? ""
        if type.hasPrefix("application/x-www-form-urlencoded") { return String(text(ofURL: "?" + body).dropFirst()) }
        guard type.contains("json"), let pattern = try? NSRegularExpression(pattern: jsonMember) else { return body }
        var result = body
        for match in pattern.matches(in: body, range: NSRange(body.startIndex..., in: body)).reversed() {
            guard let name = Range(match.range(at: 1), in: body), let value = Range(match.range(at: 2), in: body),
                hidesMember(named: String(body[name]))
            else { continue }
            result.replaceSubrange(value, with: "\"" + mask + "\"")
        }
        return result
    }

    /// Whether a member of this name holds a secret. In bodies `code` and `key` name too much else.
    private static func hidesMember(named name: String) -> Bool {
        let lowered = name.lowercased()
        return lowered != "code" && lowered != "key" && hidesParameter(named: lowered)
    }

    /// A member's name and its value, where that is a text or a number.
    private static let jsonMember = #""((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)"#

    /// The text of a URL without user info and with the values of secret query parameters masked.
    package static func text(of url: URL) -> String {
        text(ofURL: url.absoluteString)
    }

    /// The same for a URL that is text already.
    package static func text(ofURL url: String) -> String {
        var text = url
        if let scheme = text.range(of: "://") {
            let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") {
                text.replaceSubrange(scheme.upperBound..<at, with: mask)
            }
        }
        guard let question = text.firstIndex(of: "?") else { return text }
        let end = text[question...].firstIndex(of: "#") ?? text.endIndex
        let pairs = text[text.index(after: question)..<end].split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let name = String(pair[..<equals])
            // The placeholder of a route is no value.
            let isPlaceholder = pair[equals...].hasPrefix("=%%")
            return hidesParameter(named: name.removingPercentEncoding ?? name) && !isPlaceholder ? name + "=" + mask : String(pair)
        }
        return text[...question] + pairs.joined(separator: "&") + text[end...]
    }
}
