import Foundation

/// A GET or HEAD as the cache sees it: its key, its rules, and what it makes of stored and new responses.
struct CachedCall: Sendable {
    let request: ServiceRequest
    let context: CallContext
    let key: CacheKey
    let partition: CachePartitions.Partition
    let rules: CacheRules
    let selection: CacheSelection
    /// The request's `Range`; `nil` if it has none.
    private let rangeField: String?
    /// The range; `nil` if there is none, or several, or one that isn't of bytes.
    private let range: ByteRange?
    /// Whether the request has a condition of its caller, whose 304 the caller gets.
    private let isConditional: Bool
    /// Whether the transport decodes the body of the response.
    private let isDecoded: Bool
    private var isForcedWhole = false

    /// Conditions that a cache doesn't evaluate: the server does.
    private static let forwarded: [HTTPFields.Name] = ["If-Match", "If-Unmodified-Since", "If-Range"]

    init(
        _ request: ServiceRequest, _ context: CallContext, key: CacheKey, partition: CachePartitions.Partition, rules: CacheRules
    ) {
        self.request = request
        self.context = context
        self.key = key
        self.partition = partition
        self.rules = rules
        selection = CacheSelection(
            fields: request.headers, isAuthenticated: partition.isAuthenticated, cookies: partition.cookies, rules: partition.rules)
        rangeField = request.headers[.range]
        range = rangeField.flatMap { ByteRange($0) }
        isConditional = request.headers.contains(.ifNoneMatch) || request.headers.contains(.ifModifiedSince)
        isDecoded = Self.isDecoded(request.headers)
    }

    /// Whether transports decode the body of the response to a request with these fields: not a range, which can't be decoded, and not if
    /// the request refuses codings.
    private static func isDecoded(_ headers: HTTPFields) -> Bool {
        let accepted = headers[.acceptEncoding]?.lowercased()
        return !headers.contains(.range) && accepted != "identity" && accepted != ""
    }

    /// Whether a stored response may answer. `false` if the request has a `Range` other than one valid range of bytes, or a condition that
    /// only the server can evaluate.
    var mayReadCache: Bool {
        (rangeField == nil) == (range == nil) && !Self.forwarded.contains { request.headers.contains($0) }
    }

    /// The same call, to be sent without the conditions of the cache.
    var unconditional: CachedCall {
        var copy = self
        copy.isForcedWhole = true
        return copy
    }

    /// The same call for another task. It has a separate record, and isn't cancelled with the original.
    func detached(_ request: ServiceRequest) -> CachedCall {
        let record = context.record
        let own = CallContext(
            CallRecord(
                identity: record.identity, attributes: record.attributes, serviceOrigin: record.serviceOrigin, isForeign: record.isForeign,
                cacheIdentifier: record.cacheIdentifier, diagnostics: record.diagnostics, outside: record.outside,
                hasURLBuilder: record.hasURLBuilder, success: record.success,
                bodyLimit: record.bodyLimit, profileGeneration: record.profileGeneration))
        return CachedCall(request, own, key: key, partition: partition, rules: rules)
    }

    // MARK: Stored responses

    /// Whether the caller can get the stored body: bodies are stored decoded, so a call whose body isn't decoded can't use one that was
    /// coded.
    func hasSuitableBody(_ head: CacheHead) -> Bool { isDecoded || !ContentCoding.isPresent(in: head.headers) }

    /// Whether a stored response is one for this request.
    func fits(_ head: CacheHead) -> Bool {
        guard selection.matches(head.selection), hasSuitableBody(head) else { return false }
        guard let part = head.part else { return range == nil || head.status == 200 }
        return range != nil && (part.requested == rangeField || bytes(of: head, part) != nil)
    }

    /// Whether a response is stored under this URL, or under one that its `No-Vary-Search` makes equivalent.
    func isEquivalent(to head: CacheHead) -> Bool {
        head.key.url == key.url || NoVarySearch(in: head.headers)?.canonical(key.url) == head.key.url
    }

    /// The bytes of a stored part that this request asks for.
    private func bytes(of head: CacheHead, _ part: CacheHead.Part) -> Range<Int64>? {
        guard let range, let total = part.total, let wanted = range.bytes(of: total) else { return nil }
        // For the last n bytes, take the end of a part that reaches the end, even if its length doesn't match its `Content-Range`.
        if range.first == nil, let count = range.last, count <= head.bodyLength,
            ContentRange(head.headers[.contentRange])?.bytes?.upperBound == total - 1
        {
            return head.bodyLength - count..<head.bodyLength
        }
        guard wanted.lowerBound >= part.first, wanted.lowerBound < part.first + head.bodyLength else { return nil }
        // An open range takes what the part has; a range with an end needs all its bytes.
        guard wanted.upperBound <= part.first + head.bodyLength || range.last == nil else { return nil }
        return wanted.lowerBound - part.first..<min(wanted.upperBound - part.first, head.bodyLength)
    }

    /// The answer that a stored response gives; `nil` if it can't answer this request.
    func response(from entry: CacheEntry, _ source: ResponseSource, _ now: CacheMoment) -> TransportResponse? {
        let head = entry.head
        var headers = head.servedHeaders(at: now)
        var (status, body): (Int, ResponseBody)
        if isConditional, range == nil, isUnchanged(head) {
            (status, body) = (304, ResponseBody())
            headers[.contentLength] = nil
        } else if let part = head.part, part.requested != rangeField {
            guard let bytes = bytes(of: head, part), let first = part.total.flatMap({ range?.bytes(of: $0)?.lowerBound }) else {
                return nil
            }
            (status, body) = (206, entry.body(bytes))
            set(first..<first + Int64(bytes.count), of: part.total, in: &headers)
        } else if head.part == nil, let range {
            // If a body was decoded on its way, its bytes aren't those of the representation.
            guard head.status == 200, !headers.contains(.contentEncoding), let bytes = range.bytes(of: head.bodyLength) else { return nil }
            (status, body) = (206, entry.body(bytes))
            set(bytes, of: head.bodyLength, in: &headers)
        } else {
            (status, body) = (head.status, entry.body())
        }
        var response = TransportResponse(status: status, headers: headers, url: request.url, body: body, httpVersion: head.httpVersion)
        response.source = source
        response.secrets = request.secrets
        return response
    }

    private func set(_ range: Range<Int64>, of total: Int64?, in headers: inout HTTPFields) {
        headers[.contentRange] = ContentRange(range.isEmpty ? nil : ClosedRange(range), of: total).text
        headers[.contentLength] = String(range.count)
    }

    /// Whether the caller's condition shows that it has the stored response (RFC 9110 §13.2.2).
    private func isUnchanged(_ head: CacheHead) -> Bool {
        // Conditions apply only to successes (RFC 9110 §13.2.1).
        guard (200..<300).contains(head.status) else { return false }
        if let tags = request.headers[.ifNoneMatch] {
            let list = EntityTag.list(tags)
            guard list != ["*"] else { return true }
            guard let tag = head.headers[.entityTag] else { return false }
            return list.contains { EntityTag.isWeakMatch($0, tag) }
        }
        guard let since = request.headers[.ifModifiedSince].flatMap({ HTTPDate.strictDate(from: $0) }) else { return false }
        // Without `Last-Modified`, the date of the response counts (RFC 9111 §4.3.2).
        guard let text = head.headers[.lastModified] ?? head.headers[.date] else { return head.received <= since }
        return HTTPDate.strictDate(from: text).map { $0 <= since } ?? false
    }

    // MARK: Requests

    /// The request to send, and whether it has conditions of the cache.
    func outgoing(_ found: CacheEntry?, _ known: [CacheEntry]) -> (request: ServiceRequest, isConditional: Bool) {
        var request = request
        if !request.headers.contains(.cacheControl) {
            switch rules.mode {
            case .reload: request.headers[.cacheControl] = "no-cache"
            case .revalidate: request.headers[.cacheControl] = "max-age=0"
            case .standard, .onlyCached, .noStore: break
            }
        }
        guard !isForcedWhole, rules.mode != .reload, !isConditional, rangeField == nil, mayReadCache else { return (request, false) }
        var tags: [String] = []
        for entry in [found].compactMap(\.self) + known where entry.head.part == nil {
            if let tag = entry.head.headers[.entityTag], !tags.contains(tag) { tags.append(tag) }
        }
        // Without a fitting response, only tags are sent: a date wouldn't show which response a 304 means.
        let modified = found.flatMap { $0.head.headers[.lastModified] }
        guard !tags.isEmpty || modified != nil else { return (request, false) }
        if !tags.isEmpty { request.headers[.ifNoneMatch] = tags.joined(separator: ", ") }
        if let modified { request.headers[.ifModifiedSince] = modified }
        return (request, true)
    }

    /// The stored response that a 304 confirms (RFC 9111 §4.3.4).
    static func confirmed(by headers: HTTPFields, _ found: CacheEntry?, _ known: [CacheEntry]) -> CacheEntry? {
        guard let tag = headers[.entityTag] else { return found }
        let entries = [found].compactMap(\.self) + known.filter { $0.head.id != found?.head.id }
        func tagged(_ matches: (String, String) -> Bool) -> CacheEntry? {
            entries.first { $0.head.headers[.entityTag].map { matches($0, tag) } ?? false }
        }
        if let entry = tagged(EntityTag.isStrongMatch) ?? tagged(EntityTag.isWeakMatch) { return entry }
        // If the only candidate is the fitting response, the 304 means it whatever its tag.
        return entries.count == 1 ? found : nil
    }

    /// Whether the answer to a HEAD shows that the stored response to a GET is out of date (RFC 9111 §4.3.5).
    static func differs(_ head: CacheHead, _ headers: HTTPFields) -> Bool {
        for name in [HTTPFields.Name.entityTag, .lastModified, .contentLength] {
            if let new = headers[name], let old = head.headers[name], new != old { return true }
        }
        return changesSearch(of: head, headers)
    }

    /// Whether a response changes `No-Vary-Search`, on which the URL of the stored one depends.
    static func changesSearch(of head: CacheHead, _ headers: HTTPFields) -> Bool {
        headers.contains(NoVarySearch.field) && NoVarySearch(in: headers) != NoVarySearch(in: head.headers)
    }

    // MARK: New responses

    /// The head to store for a new response; `nil` if it isn't stored.
    func head(of response: TransportResponse, _ exchange: CacheExchange, _ now: CacheMoment) -> CacheHead? {
        // If the call didn't send a request, it shares the response of another call, which stores it.
        guard let (place, sent) = context.record.sent, let prepared = context.record.request else { return nil }
        guard partition.covers(prepared: prepared, sent: sent, to: place) else { return nil }
        // A coded body that arrives as it was sent can't answer calls whose bodies are decoded.
        guard Self.isDecoded(sent) || !ContentCoding.isPresent(in: response.headers) else { return nil }
        var part: CacheHead.Part?
        if response.status == 206 {
            // Multipart bodies aren't stored: each part has its own range.
            guard let rangeField, range != nil, !response.headers.contains(.contentEncoding), !response.headers.isMultipartByteRanges,
                let content = ContentRange(response.headers[.contentRange]), let bytes = content.bytes
            else { return nil }
            part = CacheHead.Part(requested: rangeField, first: bytes.lowerBound, total: content.total)
        }
        let headers = CacheHead.stored(response.headers)
        let freshness = CacheFreshness(
            status: response.status, headers: response.headers, requested: exchange.requested, received: now.date)
        guard rules.keeps(status: response.status, headers: response.headers, freshness: freshness),
            let selection = selection.selectingFields(of: response.headers, prepared: prepared.headers, sent: sent)
        else { return nil }
        let url = NoVarySearch(in: headers)?.canonical(key.url) ?? key.url
        return CacheHead(
            key: CacheKey(partition: key.partition, url: url), status: response.status, headers: headers, requested: exchange.requested,
            received: now.date,
            tags: context.attributes[CacheTags.self]?.names ?? [], identifier: context.cacheIdentifier,
            bodyLength: max(0, response.body.expectedLength ?? 0), part: part, selection: selection, httpVersion: response.httpVersion,
            instant: now.instant)
    }

    /// The number of bytes that a 206 specifies.
    func partLength(_ headers: HTTPFields) -> Int64? {
        ContentRange(headers[.contentRange])?.count
    }
}
