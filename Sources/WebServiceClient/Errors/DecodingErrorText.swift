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
            return "\(type) is needed and something else was found\(place(context)): \(context.debugDescription)"
        case .dataCorrupted(let context):
            return context.debugDescription + place(context)
        @unknown default:
            return String(describing: error)
        }
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
