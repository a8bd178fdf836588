import Foundation
import HTTPTransport

/// Describes a `DecodingError` or an `EncodingError` as a sentence: the place in the payload and the fault.
enum DecodingErrorText {
    static func text(of error: any Error) -> String {
        if case EncodingError.invalidValue(let value, let context)? = error as? EncodingError {
            return VisibleText.of(placed("the \(type(of: value)) can't be encoded: \(context.debugDescription)", path: context.codingPath))
        }
        guard let error = error as? DecodingError else {
            // Prefers an error's own description. Tests `Any`, because every `any Error` has a description.
            if !(error as Any is any CustomStringConvertible), let text = (error as? any LocalizedError)?.errorDescription { return text }
            return ValueText.text(of: error)
        }
        // The server chooses the names of members.
        return VisibleText.of(sentence(of: error))
    }

    private static func sentence(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            return "the key \"\(key.stringValue)\" is missing\(place(context.codingPath))"
        case .valueNotFound(let type, let context):
            return "\(type) is needed and null was found\(place(context.codingPath))"
        case .typeMismatch(let type, let context):
            let text = shown(context)
            // The library's own decoders name the needed type; others often don't.
            guard text.contains(" is needed") else {
                return "\(type) is needed and something else was found\(place(context.codingPath))" + (text.isEmpty ? "" : ": \(text)")
            }
            return placed(text, path: context.codingPath)
        case .dataCorrupted(let context):
            return placed(shown(context), path: context.codingPath)
        @unknown default:
            return ValueText.text(of: error)
        }
    }

    /// The decoder's text, without the values it quotes if the coding path contains a secret's name.
    private static func shown(_ context: DecodingError.Context) -> String {
        let text = context.debugDescription
        guard context.codingPath.contains(where: { SecretMask.hidesMember(named: $0.stringValue) }) else { return text }
        // Type names contain neither digits nor quotes.
        return text.contains(where: { "“\"'".contains($0) || $0.isNumber }) ? "The value doesn't fit the type that is needed." : text
    }

    /// Appends the place to a sentence, before its full stop.
    private static func placed(_ text: String, path: [any CodingKey]) -> String {
        let place = place(path)
        return (text.hasSuffix(".") && !place.isEmpty ? String(text.dropLast()) : text) + place
    }

    private static func place(_ keys: [any CodingKey]) -> String {
        guard !keys.isEmpty else { return "" }
        var path = ""
        for key in keys {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        return " at \(path)"
    }
}
