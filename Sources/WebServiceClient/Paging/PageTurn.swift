import Foundation

/// The request of one page, and the next page according to its response.
final class PageTurn: CallTurn {
    /// The outcome of a page: the next page, or the reason why it can't be fetched.
    struct Outcome: Sendable {
        /// The next page; `nil` after the last one.
        var next: PageReference?
        /// Why the next page can't be fetched.
        var failure: ServiceError?
        /// The number of the page's items, if a limit or the style needs it.
        var count: Int?
        /// The hash of the page's content, for styles whose services may ignore the query item.
        var content: Int?
        /// The URL of the request.
        var requested: URL
        var status: Int
        var headers: HTTPFields
        var url: URL
        var source: ResponseSource
        var style: PagingStyle
        /// Makes the error of a page that isn't fetched because of this one.
        let refused: @Sendable (PagingError) -> ServiceError
    }

    private struct State {
        var style: PagingStyle?
        /// The page's offset or number, for styles that count.
        var position = 0
        /// The number of items that the request asks for, if it is known.
        var size: Int?
        /// The URL of the request, and the origins that the next page may have.
        var request: (url: URL, origins: Set<Origin>, service: Origin?)?
        var outcome: Outcome?
    }

    private let reference: PageReference?
    private let countsItems: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - reference: The place where the page begins; `nil` for the endpoint's own request.
    ///   - countsItems: Whether the sequence limits the number of items.
    init(_ reference: PageReference?, countsItems: Bool) {
        self.reference = reference
        self.countsItems = countsItems
    }

    /// The outcome; `nil` if no call took the turn and succeeded.
    var outcome: Outcome? { state.withLock { $0.outcome } }

    /// A hash of all bytes. `Data`'s own covers only its first 80 bytes, which pages of the same envelope share.
    private static func hash(of body: Data) -> Int {
        var hasher = Hasher()
        body.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    // MARK: The request

    func changed(
        _ bound: Dispatcher.BoundRequest, _ attributes: EndpointAttributes, allowedOrigins: Set<Origin>
    ) throws -> Dispatcher.BoundRequest {
        guard let style = attributes[PagingStyle.self] else { throw PagingError.notPaged }
        var bound = bound
        var origins = bound.isForeign ? [] : allowedOrigins
        let service = bound.isForeign ? Origin(bound.request.url) : bound.origin
        if let service { origins.insert(service) }
        var position = 0
        var size = style.size?.count
        if let own = style.size {
            if let given = URLQueryItems(of: bound.request.url).value(of: own.query) {
                // The call's own arguments take precedence.
                size = Int(given)
            } else {
                try Self.set(own.query, "\(own.count)", in: &bound)
            }
        }
        switch (style.kind, reference?.place) {
        case (.linkHeader, nil), (.nextURL, nil), (.cursor, nil), (.lastID, nil):
            break
        case (.offset(let query), nil):
            position = Self.position(query, in: bound) ?? 0
        case (.pageNumber(let query, let first), nil):
            position = Self.position(query, in: bound) ?? first
        case (.linkHeader, .url(let text)), (.nextURL, .url(let text)):
            guard let url = URL(string: text), let origin = Origin(url) else { throw PagingError.malformedLink(text) }
            guard origins.contains(origin) else { throw Self.foreign(origin, service) }
            bound.request.url = url
        case (.cursor(_, let query?, _), .cursor(let cursor)), (.lastID(_, let query), .cursor(let cursor)):
            try Self.set(query, cursor, in: &bound)
        case (.cursor(_, nil, let name), .cursor(let cursor)):
            bound.request.body = try CursorBody.adding(cursor, as: name ?? "", to: bound.request.body)
        case (.offset(let query), .position(let number)), (.pageNumber(let query, _), .position(let number)):
            position = number
            try Self.set(query, "\(number)", in: &bound)
        default:
            throw PagingError.otherStyle(style)
        }
        let url = bound.request.url
        state.withLock { [size, position] state in
            (state.style, state.position, state.size, state.request) = (style, position, size, (url, origins, service))
        }
        return bound
    }

    private static func set(_ name: String, _ value: String, in bound: inout Dispatcher.BoundRequest) throws {
        var items = URLQueryItems(of: bound.request.url)
        items.set(name, to: value)
        guard let url = items.replacingQuery(of: bound.request.url) else {
            throw PagingError.malformedLink(bound.request.url.absoluteString)
        }
        bound.request.url = url
    }

    private static func position(_ query: String, in bound: Dispatcher.BoundRequest) -> Int? {
        URLQueryItems(of: bound.request.url).value(of: query).flatMap { Int($0) }
    }

    private static func foreign(_ origin: Origin, _ service: Origin?) -> PagingError {
        .foreignOrigin(origin.description, service: service?.description ?? "the service's origin")
    }

    // MARK: The response

    func note(_ body: Data, by reader: ResponseReader) {
        let (style, position, size, request) = state.withLock { ($0.style, $0.position, $0.size, $0.request) }
        guard let style, let request else { return }
        let response = reader.exchange.response
        var outcome = Outcome(
            requested: request.url, status: response.status, headers: response.headers, url: response.url,
            source: response.source, style: style,
            refused: { reader.unpaged($0) })
        let payload = PagePayload(body: body, reader: reader, style: style, size: size)
        do throws(PagingError) {
            if countsItems || style.itemLimit != nil { outcome.count = try payload.count() }
            outcome.next = try next(after: payload, position, &outcome)
            if case .url(let text)? = outcome.next?.place {
                guard let url = URL(string: text), let origin = Origin(url) else { throw PagingError.malformedLink(text) }
                guard request.origins.contains(origin) else { throw Self.foreign(origin, request.service) }
            }
        } catch {
            outcome.next = nil
            outcome.failure = reader.unpaged(error)
        }
        state.withLock { $0.outcome = outcome }
    }

    /// Returns the next page; `nil` after the last one.
    private func next(
        after payload: PagePayload, _ position: Int, _ outcome: inout Outcome
    ) throws(PagingError) -> PageReference? {
        let style = payload.style
        switch style.kind {
        case .linkHeader(let relation):
            guard let link = WebLink.link(relation, in: outcome.headers, at: outcome.url) else { return nil }
            guard let url = link.url else { throw .malformedLink(link.reference) }
            return PageReference(place: .url(url.absoluteString))
        case .nextURL(let path):
            guard let text = try payload.reference(at: path), !text.isEmpty else { return nil }
            guard let url = WebLink.resolved(text, against: outcome.url) else { throw .malformedLink(text) }
            return PageReference(place: .url(url.absoluteString))
        case .cursor(let path, _, _):
            if let more = style.more, try !payload.flag(at: more) { return nil }
            guard let cursor = try payload.reference(at: path), !style.emptyEnds || !cursor.isEmpty else {
                guard style.more == nil else { throw .payload(path: path, problem: "there is another page, but no cursor") }
                return nil
            }
            return PageReference(place: .cursor(cursor))
        case .lastID(let path, _):
            if let more = style.more, try !payload.flag(at: more) { return nil }
            let count = try payload.count()
            outcome.count = count
            guard count > 0, style.more != nil || !payload.isShort(count) else {
                guard style.more == nil else { throw .payload(path: style.items ?? "", problem: "there is another page, but no item") }
                return nil
            }
            return PageReference(place: .cursor(try payload.lastItem(of: count, at: path)))
        case .offset, .pageNumber:
            let count = try payload.count()
            (outcome.count, outcome.content) = (count, count > 0 ? Self.hash(of: payload.body) : nil)
            guard try isFollowed(count, position, payload) else { return nil }
            let step = if case .offset = style.kind { count } else { 1 }
            let (next, isTooLarge) = position.addingReportingOverflow(step)
            return isTooLarge ? nil : PageReference(place: .position(next))
        }
    }

    /// Whether a page of a style that counts has another one after it.
    private func isFollowed(_ count: Int, _ position: Int, _ payload: PagePayload) throws(PagingError) -> Bool {
        let style = payload.style
        if let more = style.more { return try payload.flag(at: more) }
        if let path = style.total {
            let total = try payload.number(at: path)
            return count > 0 && total - count > position
        }
        if let path = style.lastPage, case .pageNumber(_, let first) = style.kind {
            let last = try payload.number(at: path) - 1
            let (index, isTooFar) = position.subtractingReportingOverflow(first)
            return !isTooFar && index < last
        }
        return count > 0 && !payload.isShort(count)
    }
}

/// The payload of a page, read by the endpoint's decoder, in any format with names and lists.
private struct PagePayload {
    let body: Data
    let reader: ResponseReader
    let style: PagingStyle
    /// The number of items that the request asked for, if it is known.
    let size: Int?

    /// Whether a page has fewer items than the request asked for.
    func isShort(_ count: Int) -> Bool { size.map { count < $0 } ?? false }

    /// The path of the items.
    private var items: [String] {
        style.items.map(EndpointSettings.components) ?? reader.endpoint.plan.payloadRoot
    }

    private func value<Value: Decodable>(_ type: Value.Type, at path: [String]) throws(PagingError) -> Value? {
        guard !body.isEmpty else { return nil }
        let response = reader.exchange.response
        do {
            return try reader.endpoint.decoder.value(
                type, from: body, contentType: response.headers[.contentType], at: path, url: response.url)
        } catch let error as SerializationError where error.kind == .root {
            return nil
        } catch {
            let text = SecretMask.text(DecodingErrorText.text(of: error), of: reader.exchange.requestOfErrors.secrets)
            throw .payload(path: path.joined(separator: "."), problem: "the value can't be read: \(text)")
        }
    }

    /// The text or number at a path; `nil` if it is missing or null.
    func text(at path: String) throws(PagingError) -> String? {
        try value(PageScalar.self, at: EndpointSettings.components(of: path))?.text
    }

    /// The link or cursor at a path; `nil` if it is missing, null or false, which some services send on the last page.
    func reference(at path: String) throws(PagingError) -> String? {
        let found = try value(PageScalar.self, at: EndpointSettings.components(of: path))
        return found?.isFalse == true ? nil : found?.text
    }

    func flag(at path: String) throws(PagingError) -> Bool {
        switch try text(at: path)?.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        case nil: throw .payload(path: path, problem: "there is no value")
        case .some: throw .payload(path: path, problem: "the value isn't a Boolean")
        }
    }

    func number(at path: String) throws(PagingError) -> Int {
        guard let text = try text(at: path) else { throw .payload(path: path, problem: "there is no value") }
        guard let number = Int(text), number >= 0, number < Int.max / 2 else {
            throw .payload(path: path, problem: "the value isn't a number of items or pages")
        }
        return number
    }

    /// The number of the page's items.
    func count() throws(PagingError) -> Int {
        if body.isEmpty { return 0 }
        guard let count = try value(PageCount.self, at: items) else {
            throw .payload(path: items.joined(separator: "."), problem: "there is no array of items")
        }
        return count.count
    }

    /// The identifier of the last item.
    func lastItem(of count: Int, at path: String) throws(PagingError) -> String {
        let whole = items + [String(count - 1)] + EndpointSettings.components(of: path)
        guard let text = try value(PageScalar.self, at: whole)?.text, !text.isEmpty else {
            throw .payload(path: whole.joined(separator: "."), problem: "the last item has no identifier")
        }
        return text
    }
}

/// A text, number or Boolean as text; `nil` for null.
private struct PageScalar: Decodable {
    let text: String?
    /// Whether this is the Boolean value false, and not its text.
    private(set) var isFalse = false

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            text = nil
        } else if let value = try? container.decode(String.self) {
            text = value
        } else if let value = try? container.decode(Bool.self) {
            text = value ? "true" : "false"
            isFalse = !value
        } else if let value = try? container.decode(Int64.self) {
            text = String(value)
        } else {
            text = try container.decode(Decimal.self).description
        }
    }
}

/// The number of elements of a list; null has none.
private struct PageCount: Decodable {
    let count: Int

    init(from decoder: any Decoder) throws {
        var container: any UnkeyedDecodingContainer
        do {
            container = try decoder.unkeyedContainer()
        } catch {
            guard let isNil = try? decoder.singleValueContainer().decodeNil(), isNil else { throw error }
            count = 0
            return
        }
        if let known = container.count {
            count = known
            return
        }
        var count = 0
        while !container.isAtEnd {
            _ = try container.superDecoder()
            count += 1
        }
        self.count = count
    }
}

/// Adds a cursor to the body of a request.
enum CursorBody {
    /// Returns the body with the cursor as an additional member. The rest of the text is unchanged, including the digits of its numbers.
    static func adding(_ cursor: String, as name: String, to body: RequestBody?) throws(PagingError) -> RequestBody {
        let member = Data(quoted(name) + [UInt8(ascii: ":")] + quoted(cursor))
        guard let body else { return RequestBody(Data("{".utf8) + member + Data("}".utf8), contentType: "application/json") }
        guard let data = body.data else { throw .body("the body is a stream or a file") }
        guard let members = try? JSONReader().decode([String: AnyMember].self, from: data), let text = String(data: data, encoding: .utf8),
            let end = text.utf8.lastIndex(of: UInt8(ascii: "}"))
        else { throw .body("it isn't a JSON object in UTF-8") }
        guard members[name] == nil else { throw .body("it has a member \"\(name)\" already; omit the member") }
        let comma = members.isEmpty ? "" : ","
        let whole = Data(text.utf8[..<end]) + Data(comma.utf8) + member + Data("}".utf8)
        var changed = RequestBody(whole, contentType: body.contentType)
        changed.contentTypeIsBinding = body.contentTypeIsBinding
        changed.hasUnorderedKeys = body.hasUnorderedKeys
        return changed
    }

    private static func quoted(_ text: String) -> [UInt8] {
        (try? JSONEncoder().encode([text])).map { Array($0.dropFirst().dropLast()) } ?? []
    }

    private struct AnyMember: Decodable {
        init(from decoder: any Decoder) {}
    }
}
