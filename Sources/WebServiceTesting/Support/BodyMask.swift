import Foundation
import WebServiceClient

/// Masks the secrets in bodies by the package's rules: in JSON members, form items, parts of multipart forms, XML elements and text.
enum BodyMask {
    /// Returns whether a JSON member or form item with this name is secret. `code` and `key` are too common in bodies to be treated as
    /// secret.
    static func hides(member name: String) -> Bool {
        SecretMask.hidesMember(named: name)
    }

    /// Returns the body with its secrets masked; the same bytes if there are none.
    ///
    /// JSON stays JSON with values of the same types, so that a masked response can still be decoded: a secret text becomes the mask, and a
    /// secret number becomes 0. In bytes that aren't text, only the secrets of the request are masked.
    ///
    /// - Parameter secrets: The secrets of the request, which the rules can't recognize.
    static func masked(_ body: Data, type: String?, secrets: RequestSecrets? = nil) -> Data {
        guard !body.isEmpty else { return body }
        let type = (type ?? "").lowercased()
        if type.contains("json"), let tree = try? JSONReader().decode(JSONValue.self, from: body) {
            let masked = maskedTree(tree, isSecret: false, secrets)
            guard masked != tree, let text = try? masked.json() else { return body }
            return Data(text.utf8)
        }
        if let text = String(data: body, encoding: .utf8) {
            let masked = SecretMask.text(ofBody: text, contentType: type, of: secrets)
            return masked == text ? body : Data(masked.utf8)
        }
        // In Latin-1, each byte is a character, and the masks are ASCII.
        guard isText(type) || secrets != nil, let text = String(data: body, encoding: .isoLatin1) else { return body }
        let masked = isText(type) ? SecretMask.text(ofBody: text, contentType: type, of: secrets) : secrets?.masked(text) ?? text
        return masked == text ? body : masked.data(using: .isoLatin1) ?? Data(SecretMask.mask.utf8)
    }

    /// Returns the beginning of a body for a message, with its secrets masked.
    static func excerpt(_ text: String) -> String {
        let isJSON = text.first { !$0.isWhitespace }.map { $0 == "{" || $0 == "[" } ?? false
        let isForm = !isJSON && text.utf8.contains(UInt8(ascii: "=")) && !text.contains { $0.isWhitespace }
        let type = isJSON ? "application/json" : isForm ? "application/x-www-form-urlencoded" : "text/plain"
        let masked = String(decoding: masked(Data(text.utf8), type: type), as: UTF8.self)
        return masked.count > 500 ? masked.prefix(500) + "…" : masked
    }

    private static func isText(_ type: String) -> Bool {
        ["text/", "json", "xml", "x-www-form-urlencoded", "multipart/form-data"].contains { type.contains($0) }
    }

    /// Returns the tree with its secrets masked. The nesting of values is bounded, so recursion is safe.
    private static func maskedTree(_ tree: JSONValue, isSecret: Bool, _ secrets: RequestSecrets?) -> JSONValue {
        switch tree {
        case .null, .boolean: return tree
        case .number(let number):
            // A number can also have the form of a secret, such as a card number.
            return isSecret || SecretMask.text(number.text, of: secrets) != number.text ? .number(0) : tree
        case .string(let text):
            if isSecret { return text.isEmpty ? tree : .string(SecretMask.mask) }
            return .string(SecretMask.text(text, of: secrets))
        case .array(let elements):
            return .array(elements.map { maskedTree($0, isSecret: isSecret, secrets) })
        case .object(let members):
            // `{"name": "X-Api-Key", "value": "…"}` names the secret in another member.
            let namesSecret = members.contains { name, value in
                SecretNames.isNaming(name) && value.string.map { SecretMask.hidesParameter(named: $0) } ?? false
            }
            return .object(
                JSONValue.Members(
                    members.map { name, value in
                        let hides = isSecret || hides(member: name) || namesSecret && SecretNames.isValuing(name)
                        return (SecretMask.text(name, of: secrets), maskedTree(value, isSecret: hides, secrets))
                    }))
        }
    }
}
