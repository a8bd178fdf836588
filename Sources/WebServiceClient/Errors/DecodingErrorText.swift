import Foundation

/// Tells a `DecodingError` as a sentence: where in the payload, and what was wrong there.
enum DecodingErrorText {
    static func text(of error: any Error) -> String {
        guard let error = error as? DecodingError else {
            // What describes itself for people does that best.
            if !(error is any CustomStringConvertible), let text = (error as? any LocalizedError)?.errorDescription { return text }
            return String(describing: error)
        }
        // Names of members are the server's.
        return VisibleText.of(sentence(of: error))
    }

    private static func sentence(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            return "the key \"\(key.stringValue)\" is missing\(place(context))"
        case .valueNotFound(let type, let context):
            return "\(type) is needed and null was found\(place(context))"
        case .typeMismatch(let type, let context):
            let text = context.debugDescription
            // The library's own decoders say what is needed, others often don't.
            guard text.contains(" is needed") else {
                return "\(type) is needed and something else was found\(place(context))" + (text.isEmpty ? "" : ": \(text)")
            }
            return placed(text, context)
        case .dataCorrupted(let context):
            return placed(context.debugDescription, context)
        @unknown default:
            return String(describing: error)
        }
    }

    /// A sentence with the place at its end: the full stop is behind that, if anywhere.
    private static func placed(_ text: String, _ context: DecodingError.Context) -> String {
        let place = place(context)
        return (text.hasSuffix(".") && !place.isEmpty ? String(text.dropLast()) : text) + place
    }

    private static func place(_ context: DecodingError.Context) -> String {
        guard !context.codingPath.isEmpty else { return "" }
        var path = ""
        for key in context.codingPath {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        return " at \(path)"
    }
}
