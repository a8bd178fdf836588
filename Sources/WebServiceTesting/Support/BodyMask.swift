import Foundation
import WebServiceClient

/// Masks the secrets in JSON and form bodies. Other bodies have no names that identify secrets.
enum BodyMask {
    /// Returns whether a JSON member or form item of this name is secret. `code` and `key` are too common in bodies to count.
    static func hides(member name: String) -> Bool {
        SecretMask.hidesMember(named: name)
    }

    /// Returns the body with its secrets masked; the same bytes if there are none.
    static func masked(_ body: Data, type: String?) -> Data {
        let type = (type ?? "").lowercased()
        if type.hasPrefix("application/x-www-form-urlencoded") { return Data(maskedForm(String(decoding: body, as: UTF8.self)).utf8) }
        guard type.contains("json"), let tree = try? JSONTree(parsing: body), let masked = maskedTree(tree),
            let bytes = try? JSONEncoder().encode(masked)
        else { return body }
        return bytes
    }

    /// Returns the beginning of a body for a message, with its secrets masked.
    static func excerpt(_ text: String) -> String {
        let isJSON = text.first { !$0.isWhitespace }.map { $0 == "{" || $0 == "[" } ?? false
        let isForm = !isJSON && text.utf8.contains(UInt8(ascii: "=")) && !text.contains { $0.isWhitespace }
        let masked = isForm ? maskedForm(text) : String(decoding: masked(Data(text.utf8), type: isJSON ? "json" : nil), as: UTF8.self)
        return masked.count > 500 ? masked.prefix(500) + "…" : masked
    }

    private static func maskedForm(_ form: String) -> String {
        form.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let name = String(pair[..<equals])
            return hides(member: name.removingPercentEncoding ?? name) ? name + "=" + SecretMask.mask : String(pair)
        }.joined(separator: "&")
    }

    /// Returns the tree with its secrets masked; `nil` if it has none.
    private static func maskedTree(_ tree: JSONTree) -> JSONTree? {
        switch tree {
        case .object(let members):
            var copy = members
            for (name, value) in members {
                if hides(member: name), value != .null {
                    copy[name] = .text(SecretMask.mask)
                } else if let masked = maskedTree(value) {
                    copy[name] = masked
                }
            }
            return copy == members ? nil : .object(copy)
        case .list(let elements):
            let copy = elements.map { maskedTree($0) ?? $0 }
            return copy == elements ? nil : .list(copy)
        default:
            return nil
        }
    }
}
