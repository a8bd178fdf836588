public import Foundation

extension SerializationRegistry {
    /// The value of a response's body.
    ///
    /// What is wanted decides first: `Data` gets the bytes and `String` the text, unless the serializer finds them inside its payloads
    /// (``SerializationDelegate/readsInsidePayload(_:contentType:)``); then a serializer that is forced; then the one that the `Content-Type` chooses; without a `Content-Type`, or one that can be read, the fallback.
    ///
    /// - Parameters:
    ///   - type: what is wanted, also an optional.
    ///   - body: the bytes, not empty.
    ///   - contentType: the response's `Content-Type` as it was sent.
    ///   - path: the wire names that lead to the root inside the payload.
    ///   - forced: the endpoint's own serializer, which reads whatever comes.
    ///   - fallback: the client's serializer.
    ///   - url: where the body came from.
    /// - Throws: the decoder's own error; ``SerializationError`` when the body is of another format than is needed, when the root is
    ///   missing, and when the charset is unknown or wrong.
    public func decode<Value: Decodable>(
        _ type: Value.Type, body: Data, contentType: String?, path: [String] = [], forced: (any SerializationDelegate)? = nil,
        fallback: any SerializationDelegate, url: URL? = nil
    ) throws -> Value {
        if path.isEmpty {
            let isData = Value.self == Data.self || Value.self == Data?.self
            if isData || Value.self == String.self || Value.self == String?.self,
                !(forced ?? chosen(contentType) ?? fallback).readsInsidePayload(Value.self, contentType: contentType)
            {
                return try isData ? Self.whole(body) : Self.whole(PlainTextSerializer.text(of: body, contentType: contentType))
            }
        }
        if let fault = faults.first { throw SerializationError(.registration, fault) }
        let payload = Payload(body: body, contentType: contentType, path: path, url: url)
        if let forced { return try payload.decode(type, with: forced) }
        guard choosesByContentType, let contentType, !contentType.isEmpty else { return try payload.decode(type, with: fallback) }
        if let delegate = delegate(forHeader: contentType) {
            return try payload.decode(type, with: delegate, fallback: fallback)
        }
        guard let media = MediaType(contentType), media.essence != MediaType(fallback.contentType)?.essence else {
            return try payload.decode(type, with: fallback)
        }
        throw payload.mismatch(expected: fallback, cause: nil)
    }

    /// The serializer that a `Content-Type` chooses.
    private func chosen(_ contentType: String?) -> (any SerializationDelegate)? {
        choosesByContentType ? contentType.flatMap { delegate(forHeader: $0) } : nil
    }

    /// The body as the type that it is known to be, or that type's optional: nothing else comes here, so that the cast doesn't fail. By itself:
    /// room for a value that may be none is asked of the runtime at the beginning of a function, also where it isn't needed.
    @inline(never)
    private static func whole<Value>(_ body: some Sendable) throws -> Value {
        guard let value = body as? Value else { throw SerializationError(.structure, "A \(Value.self) isn't the whole of a body.") }
        return value
    }
}

/// A body on its way to a value.
private struct Payload {
    let body: Data
    let contentType: String?
    let path: [String]
    let url: URL?

    /// Decodes; a failure on a page of HTML, or on a body of another type than the serializer's, is told as what it is.
    func decode<Value: Decodable>(_ type: Value.Type, with delegate: any SerializationDelegate) throws -> Value {
        do {
            return try delegate.decode(type, from: body, at: path, contentType: contentType, url: url)
        } catch {
            guard !(delegate is PlainTextSerializer), !Self.readsMarkup(delegate),
                MarkupPage(body) != nil || Self.isOfBeginning(error) && isOfOtherType(than: delegate)
            else { throw error }
            throw mismatch(expected: delegate, cause: error)
        }
    }

    /// Whether the body isn't in the format at all, so far as the error tells.
    private static func isOfBeginning(_ error: any Error) -> Bool {
        if case .dataCorrupted(let context) = error as? DecodingError { return context.codingPath.isEmpty }
        return (error as? SerializationError)?.kind == .charset
    }

    /// Whether the `Content-Type` names another format than the serializer's. Plain text and octets may be anything.
    private func isOfOtherType(than delegate: any SerializationDelegate) -> Bool {
        guard let media = contentType.flatMap({ MediaType($0) }), let own = MediaType(delegate.contentType) else { return false }
        return media.essence != own.essence && media.subtype != own.subtype && media.suffix != own.subtype
            && media.essence != "text/plain" && media.essence != "application/octet-stream"
    }

    /// Decodes with the serializer that the header chose. Text and bytes have no structure: where one is needed, a body that is said
    /// to be plain text is read as what the client expects, since many servers label JSON so; any other is a mismatch.
    func decode<Value: Decodable>(
        _ type: Value.Type, with delegate: any SerializationDelegate, fallback: any SerializationDelegate
    ) throws -> Value {
        // By their types: a cast asks the runtime.
        let kind = Swift.type(of: delegate)
        guard kind == PlainTextSerializer.self || kind == RawDataSerializer.self else { return try decode(type, with: delegate) }
        do {
            return try delegate.decode(type, from: body, at: path, contentType: contentType, url: url)
        } catch {
            let kind = (error as? SerializationError)?.kind
            let essence = contentType.flatMap { MediaType($0)?.essence }
            let isMarkup = MarkupPage(body) != nil || essence == "text/html"
            guard isMarkup || kind == .structure || kind == .root else { throw error }
            guard !isMarkup, essence == "text/plain", Swift.type(of: fallback) != Swift.type(of: delegate) else {
                throw mismatch(expected: fallback, cause: error)
            }
            do {
                return try decode(type, with: fallback)
            } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
                throw mismatch(expected: fallback, cause: DecodingError.dataCorrupted(context))
            }
        }
    }

    func mismatch(expected: any SerializationDelegate, cause: (any Error)?) -> SerializationError {
        let came = contentType.map { "of the type “\(SerializationError.excerpt($0))”" } ?? "without a Content-Type"
        let content =
            switch MarkupPage(body) {
            case let page? where page.title != nil: "a page titled “\(page.title ?? "")”"
            case .some: "a page of markup that begins with \(SerializationError.excerpt(body))"
            case nil: "it begins with \(SerializationError.excerpt(body))"
            }
        return SerializationError(
            .format,
            "The body came \(came) (\(content)), and \(expected.contentType) is expected: check the URL and the credentials, register a "
                + "serializer for the type, or force one at the endpoint.",
            cause: cause)
    }

    /// Whether the serializer's own format begins with a tag.
    private static func readsMarkup(_ delegate: any SerializationDelegate) -> Bool {
        guard let type = MediaType(delegate.contentType) else { return false }
        return type.subtype.hasSuffix("xml") || type.subtype.hasSuffix("plist") || type.subtype == "html"
    }
}
