/// Tells a `DecodingError` as a sentence: where in the payload, and what was wrong there.
enum DecodingErrorText {
    static func text(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return String(describing: error) }
        switch error {
        case .keyNotFound(let key, let context):
            return "the key \"\(key.stringValue)\" is missing\(place(context))"
        case .valueNotFound(let type, let context):
            return "\(type) is needed and null was found\(place(context))"
        case .typeMismatch(let type, let context):
            let text = shown(context)
            // The library's own decoders say what is needed, others often don't.
            guard text.contains(" is needed") else {
                return "\(type) is needed and something else was found\(place(context))" + (text.isEmpty ? "" : ": \(text)")
            }
            return placed(text, context)
        case .dataCorrupted(let context):
            return placed(shown(context), context)
        @unknown default:
            return String(describing: error)
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
