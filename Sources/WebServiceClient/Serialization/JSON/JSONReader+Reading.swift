public import Foundation

extension JSONReader {
    /// A value that reads itself, from a text or from the root inside it.
    ///
    /// - Parameters:
    ///   - data: the text in UTF-8, UTF-16 or UTF-32. Its bytes are read where they lie and mustn't change before the call returns: no file
    ///     that is mapped while others write it.
    ///   - path: the names, as they stand in the text, and indices that lead to the root; empty for the text's own value.
    /// - Throws: `DecodingError`, or what the type throws; ``SerializationError`` when the root isn't there or the bytes are of no charset.
    public func read<Value: JSONReadable>(_ type: Value.Type, from data: Data, at path: [String] = []) throws -> Value {
        try JSONDocument.withDocument(TextEncoding.utf8(from: data, contentType: nil), self) { document in
            try Value(from: JSONCursor(document, document.place(at: path)))
        }
    }

    /// The same for a type of which it is known only now that it reads itself.
    static func read<Value>(_ type: Value.Type, directly readable: any JSONReadable.Type, _ document: JSONDocument, _ place: JSONPlace)
        throws -> Value?
    {
        func read<Readable: JSONReadable>(_ type: Readable.Type) throws -> Value? {
            try Readable(from: JSONCursor(document, place)) as? Value
        }
        return try read(readable)
    }
}
