import Foundation
import HTTPTransport

/// Tells a `DecodingError` or an `EncodingError` as a sentence: where in the payload, and what was wrong there.
enum DecodingErrorText {
    static func text(of error: any Error) -> String {
        if case EncodingError.invalidValue(let value, let context)? = error as? EncodingError {
            return VisibleText.of(placed("the \(type(of: value)) can't be encoded: \(context.debugDescription)", path: context.codingPath))
        }
        guard let error = error as? DecodingError else {
            // What describes itself for people does that best. As `Any`, since each `any Error` has a description.
            if !(error as Any is any CustomStringConvertible), let text = (error as? any LocalizedError)?.errorDescription { return text }
            return ValueText.text(of: error)
        }
        // Names of members are the server's.
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
            // The library's own decoders say what is needed, others often don't.
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

    /// What the decoder says, without what it quotes where a name on the way is a secret's.
    private static func shown(_ context: DecodingError.Context) -> String {
        let text = context.debugDescription
        guard context.codingPath.contains(where: { SecretMask.hidesMember(named: $0.stringValue) }) else { return text }
        // Types are named without digits and quotes around them.
        return text.contains(where: { "“\"'".contains($0) || $0.isNumber }) ? "The value doesn't fit the type that is needed." : text
    }

    /// A sentence with the place at its end: the full stop is behind that, if anywhere.
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
