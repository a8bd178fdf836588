public import Foundation
public import WebServiceClient

// Writing media entities and stream properties (Protocol, sections 11.4.7 and 11.4.8).
extension ODataClient {
    /// Replaces the bytes of a stream. A stream property that is null gets a value.
    ///
    ///     try await client.setContent(of: photo, to: RequestBody(file: file), contentType: "image/jpeg")
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - content: The bytes, also from a file or a stream.
    ///   - contentType: Their media type.
    ///   - condition: The condition on the stream, whose version isn't its entity's. ``WriteCondition/usual``, the default, is the version
    ///     of the reference if it has one, and otherwise none.
    /// - Returns: The new version of the stream, if the service sent it.
    /// - Throws: `ServiceError`, with the status 412 if the condition doesn't hold, and 428 if the service needs one; `CancellationError`
    ///   when the task was cancelled.
    @discardableResult public func setContent(
        of stream: StreamReference, to content: RequestBody, contentType: String, if condition: WriteCondition = .usual
    ) async throws -> String? {
        var operation = try writing(.put, stream, if: condition)
        operation.bytes = (content, try checked(contentType, stream.operation))
        let mustExist = operation.condition.header(printer.version)?.name == "If-Match"
        let request: ServiceCall = try call(operation)
        // The service may answer with the stream itself. A JSON or HTML stream isn't examined, because it could look like an error or a
        // sign-in page.
        let type = MediaType(contentType)
        if type?.isJSON != false || type?.isHTML == true {
            let response: ServiceResponse<NoContent> = try await self.response(
                request, stream.operation, for: .changing(mustExist: mustExist))
            return response.headers["ETag"]
        }
        return try await confirmed(request, stream.operation, for: .changing(mustExist: mustExist))["ETag"]
    }

    /// Sets a stream property to null, which removes its bytes. The media of an entity are removed by deleting the entity.
    ///
    /// - Parameter condition: The condition on the stream, as in ``setContent(of:to:contentType:if:)``.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func deleteContent(of stream: StreamReference, if condition: WriteCondition = .usual) async throws {
        try await send(try writing(.delete, stream, if: condition))
    }

    /// Creates a media entity from its bytes, and then sets its properties.
    ///
    ///     let created = try await client.createMedia(
    ///         RequestBody(file: file), contentType: "image/jpeg", slug: "Harbour.jpg", in: FetchRequest<Photo>(),
    ///         setting: ["Title": "Harbour"])
    ///
    /// The request that creates a media entity contains only its bytes (Protocol, section 11.4.7.1), so properties need a second request:
    /// an update at the location that the service returned, in the version that it created. Without properties, only one request is sent.
    ///
    /// - Parameters:
    ///   - content: The bytes, also from a file or a stream.
    ///   - contentType: Their media type.
    ///   - slug: The suggested name (RFC 5023, section 9.7), from which the service may derive a key, a title or a file name.
    ///   - collection: The request for the collection. Options that filter, order or page entities are an error.
    ///   - properties: The properties to set, by their wire names.
    ///   - preference: The preferred content of the responses.
    /// - Returns: The entity as stored by the service, or only its location.
    /// - Throws: `ServiceError`, whose cause is ``MediaCreationError`` if the entity was created and its properties weren't set;
    ///   `CancellationError` when the task was cancelled, perhaps after the entity was created.
    @discardableResult public func createMedia<Entity>(
        _ content: RequestBody, contentType: String, slug: String? = nil, in collection: FetchRequest<Entity>,
        setting properties: DynamicEntity = DynamicEntity(), preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        let name = ODataOperation(collection.resource)
        if properties.count > 0 {
            // Checked before the bytes are sent: a fault would leave an entity without properties.
            let member = collection.resource.appending(.index(0))
            var update = WriteOperation(.update, updateMethod, ODataQuery(member))
            update.body = .object(properties)
            update.condition = .exists
            try check(update)
        }
        var creation = try operation(.creation, .post, collection.resource, for: collection.options, answers: true)
        creation.bytes = (content, try checked(contentType, name))
        creation.answersPayload = true
        creation.preference = preference
        var call: ServiceCall = try self.call(creation)
        if let slug { call = call.header("Slug", Self.slug(slug)) }
        let response: ServiceResponse<ODataEntity<Entity>?> = try await self.response(call, name, for: .changing(mustExist: false))
        let created = WriteResult(response)
        guard properties.count > 0 else { return created }
        do {
            guard let place = created.location?.absoluteString ?? created.entityID else {
                throw error(
                    name, .decoding, .link,
                    "The service's answer has neither a location (Location) nor an id of the new entity: look for it in the collection.",
                    response: ResponseSummary(of: response))
            }
            var update = WriteOperation(.update, updateMethod, ODataQuery(ResourcePath("entity")))
            update.body = .object(properties)
            update.condition = created.etag.map { .version($0) } ?? .usual
            update.preference = preference
            update.link = try routed(PayloadLink(text: place), name)
            return WriteResult(created, updatedBy: try await write(update, Entity.self))
        } catch let reason as ServiceError where reason.kind != .cancelled {
            let cause = MediaCreationError(location: created.location, entityID: created.entityID, reason: reason)
            throw error(name, reason.stage, reason.kind, cause.description, cause: cause, response: reason.response)
        }
    }

    /// Returns the media type of written bytes.
    ///
    /// - Throws: `ServiceError` if the text isn't a media type: a service would store the bytes with a wrong type.
    private func checked(_ contentType: String, _ operation: ODataOperation) throws -> String {
        guard MediaType(contentType) != nil else {
            throw error(
                operation, .binding, .encoding,
                "'\(VisibleText.of(String(contentType.prefix(80))))' isn't a media type: write a type and a subtype, such as image/jpeg.")
        }
        return contentType
    }

    /// Returns the text of a `Slug` field: spaces and visible ASCII except `%` are unchanged, and all else is percent-encoded as UTF-8
    /// (RFC 5023, section 9.7).
    static func slug(_ text: String) -> String {
        var field = ""
        for byte in text.utf8 {
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                field.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                field += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return field
    }
}

/// The reason why a media entity was created without its properties.
public struct MediaCreationError: DescribedError, Sendable {
    /// The URL for changing the entity, if the service sent one.
    public let location: URL?
    /// The entity's id, if the service sent one.
    public let entityID: String?
    /// The error of the update.
    public let reason: ServiceError

    /// Sentences for people. The query of the URL, or of the id if there is no URL, is omitted, as it may contain secrets.
    public var description: String {
        let id = entityID.map { " with the id \(VisibleText.of(NextLink.shown(SecretMask.text(ofURL: $0))))" }
        let place = location.map { " at \(NextLink.shown($0))" } ?? id ?? ""
        let message = (reason.errorBody as? ODataErrorBody)?.description ?? reason.message
        return "The media entity was created\(place), but its properties weren't set: update or delete it. \(message)"
    }
}

extension DynamicEntity {
    /// Sets a stream property to bytes that are written inside the entity (JSON Format 4.01, section 9). Requires version 4.01; services of
    /// earlier versions accept the bytes of a stream only in a separate request.
    ///
    /// - Parameters:
    ///   - name: The wire name of the property.
    ///   - data: The bytes. For `application/json` they must be JSON, for `text/*` UTF-8; all others are written as base64url.
    ///   - contentType: Their media type.
    /// - Throws: `EncodingError` if the bytes don't fit the media type.
    public mutating func setStream(_ name: String, to data: Data, contentType: String) throws {
        self[name + "@mediaContentType"] = .string(contentType)
        self[name] = try EdmStream.inlineValue(data, contentType)
    }
}
