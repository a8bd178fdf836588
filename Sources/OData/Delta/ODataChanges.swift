import Foundation
public import WebServiceClient

// Tracking the changes of a query (Protocol 4.01, section 11.3).
extension ODataClient {
    /// Returns the changes of a query's entities since a cursor or, without one, all entities and the cursor for later changes.
    ///
    ///     for try await change in client.changes(of: FetchRequest<User>().selectAll(), since: cursor) {
    ///         switch change {
    ///         case .restarted: store.beginSweep()
    ///         case .changed(let user): store.merge(user.payload)
    ///         case .removed(let user): store.remove(user.id, user.key)
    ///         case .linked, .unlinked: break
    ///         case .checkpoint(let cursor): try store.save(cursor)
    ///         }
    ///     }
    ///
    /// The first request of a full read has the preference `track-changes`. The links that the service sends contain the query, so they are
    /// followed unchanged, but never to another origin, regardless of ``foreignLinks``. A page is requested when the events of the previous
    /// one have been read. Each page ends with a checkpoint.
    ///
    /// If a service tracks changes by a function, use its path in the request: `FetchRequest<User>(from: "users/delta()")`. Version 2 has
    /// no such preference: a service that tracks changes always sends the link.
    ///
    /// - Parameters:
    ///   - request: The query. Services may refuse options together with change tracking; `top` and `skip` are always an error.
    ///   - cursor: The last checkpoint; `nil` to begin.
    ///   - start: Where tracking begins without a cursor.
    ///   - expiry: The behavior if the service no longer knows the cursor's state.
    ///   - interval: The time after which the service is asked for changes again; `nil` to end the sequence at a complete checkpoint.
    /// - Returns: A sequence whose iterator throws `ServiceError`, or `CancellationError` when the task was cancelled. The cause is
    ///   ``DeltaError`` if the cursor belongs to another service or query, or if the last page has no delta link. The events of a page come
    ///   before the error of its link or of an entry that can't be read. After an error, the sequence has ended; continue at the last
    ///   checkpoint.
    public func changes<Entity>(
        of request: FetchRequest<Entity>, since cursor: DeltaCursor? = nil, from start: DeltaStart = .beginning,
        onExpiry expiry: DeltaExpiry = .restart, repeating interval: Duration? = nil
    ) -> ODataChanges<Entity> {
        ODataChanges(client: self, request: request, cursor: cursor, start: start, expiry: expiry, interval: interval)
    }
}

/// The beginning of change tracking without a cursor.
public enum DeltaStart: Sendable, Hashable {
    /// With all entities: the first read is a full one.
    case beginning
    /// From now on, for any service: all entities are read once, but only checkpoints are returned.
    case now
    /// From now on or from an earlier state, by the service's token in a query option.
    case token(String, option: String = "$deltatoken")

    /// From now on, for the directory resources of Microsoft Graph: `$deltatoken=latest`. For drives use `.token("latest", option:
    /// "token")`.
    public static let latest = DeltaStart.token("latest")
}

/// The behavior if a service no longer knows the state of a cursor: it answers 410 (Gone), or 400 with a code such as `syncStateNotFound`.
public enum DeltaExpiry: Sendable, Hashable {
    /// Returns ``ODataChange/restarted(_:)`` and reads all entities again.
    case restart
    /// Throws the service's error.
    case fail

    /// The codes of Microsoft Graph and OneDrive, and Dataverse's `ExpiredVersionStamp`.
    private static let codes: Set<String> = [
        "syncstatenotfound", "syncstateinvalid", "syncstateexpired", "resyncrequired", "resyncchangesapplydifferences",
        "resyncchangesuploaddifferences", "0x80044352",
    ]

    /// Returns whether an error of a link means that the service no longer knows its state.
    static func isReason(_ error: ServiceError) -> Bool {
        guard error.stage == .status, let status = error.status else { return false }
        if status == 410 { return true }
        guard status == 400, let body = error.errorBody as? ODataErrorBody else { return false }
        var all = [body.code] + body.details.map(\.code)
        var inner = body.innerError
        for name in ["innererror", "innerError"] {
            if let code = inner?["code"]?.string { all.append(code) }
            inner = inner?[name] ?? inner
        }
        if let code = inner?["code"]?.string { all.append(code) }
        return all.contains { codes.contains($0.lowercased()) }
    }
}

/// The changes of a query's entities: see ``ODataClient/changes(of:since:from:onExpiry:repeating:)``.
public struct ODataChanges<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = ODataChange<Entity>

    let client: ODataClient
    let request: FetchRequest<Entity>
    let cursor: DeltaCursor?
    let start: DeltaStart
    let expiry: DeltaExpiry
    let interval: Duration?

    /// Returns an iterator that starts at the cursor.
    public func makeAsyncIterator() -> Iterator { Iterator(walk: DeltaWalk(self)) }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let walk: DeltaWalk<Entity>

        init(walk: DeltaWalk<Entity>) { self.walk = walk }

        /// Returns the next event, or `nil` after a complete checkpoint, unless the sequence repeats.
        ///
        /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled. After an error, the sequence has ended.
        public mutating func next() async throws -> ODataChange<Entity>? { try await walk.next() }
    }
}

/// The state of one iteration over changes.
final class DeltaWalk<Entity: Decodable & Sendable> {
    private enum Step {
        case begin
        /// Begins a full read because a link is no longer known.
        case beginAgain(ServiceError)
        case follow(DeltaCursor)
        case wait(Duration, DeltaCursor)
        /// Throws the failure of a page, after the events before it.
        case fail(any Error)
    }

    private let changes: ODataChanges<Entity>
    private let operation: ODataOperation
    /// The events of the current page, the last one first.
    private var events: [ODataChange<Entity>] = []
    private var step: Step?
    /// Hashes of the links that were followed since the last complete checkpoint.
    private var seen: Set<Int> = []
    /// The number of full reads since the last complete checkpoint. A service that never knows its own links must end in an error.
    private var restarts = 0
    /// Whether the service confirmed that it tracks changes.
    private var isConfirmed = false
    /// Whether the events of the current read are withheld, because tracking begins now.
    private var isSilent: Bool

    private static var restartLimit: Int { 3 }

    init(_ changes: ODataChanges<Entity>) {
        self.changes = changes
        operation = ODataOperation(changes.request.query)
        step = changes.cursor.map { .follow($0) } ?? .begin
        isSilent = changes.cursor == nil && changes.start == .now
    }

    private var client: ODataClient { changes.client }

    func next() async throws -> ODataChange<Entity>? {
        while events.isEmpty {
            // Without a next step, the sequence ends after an error.
            guard let step else { return nil }
            self.step = nil
            try Task.checkCancellation()
            switch step {
            case .begin:
                let isFull = if case .token = changes.start { false } else { true }
                try await begin(isFull: isFull, marked: isFull && !isSilent ? .restarted(nil) : nil)
            case .beginAgain(let reason):
                try await begin(isFull: true, marked: .restarted(reason))
            case .follow(let cursor):
                try await follow(cursor)
            case .wait(let interval, let cursor):
                try await client.pause(for: interval)
                self.step = .follow(cursor)
            case .fail(let error):
                throw error
            }
        }
        return events.popLast()
    }

    /// Requests the first page of a read.
    private func begin(isFull: Bool, marked mark: ODataChange<Entity>?) async throws {
        var tracked = operation
        if let preference = Self.preference(client.printer.version) { tracked.headers.append("Prefer", preference) }
        var target = try target()
        if !isFull, case .token(let token, let option) = changes.start {
            target += (target.contains("?") ? "&" : "?") + "\(try name(of: option))=\(URLEncoding.queryValue(token))"
        }
        let call = client.paged(client.call(tracked, to: target), tracked)
        let response: ServiceResponse<ODataPage<DynamicEntity>> = try await client.response(call, operation)
        isConfirmed = Self.confirms(response.headers)
        take(response, isFull: isFull, marked: mark)
    }

    /// Requests the page at a cursor.
    private func follow(_ cursor: DeltaCursor) async throws {
        let url = try checked(cursor)
        seen.insert(url.absoluteString.hashValue)
        let response: ServiceResponse<ODataPage<DynamicEntity>>
        do {
            response = try await client.response(client.paged(client.call(operation, link: url, isForeign: false), operation), operation)
        } catch let error as ServiceError where changes.expiry == .restart && DeltaExpiry.isReason(error) {
            restarts += 1
            guard restarts <= Self.restartLimit else { throw error }
            seen = []
            // The `Location` of the answer isn't followed: it has the same effect as the query, and in some services it fails.
            step = isSilent ? .begin : .beginAgain(error)
            return
        }
        take(response, isFull: cursor.isInFullRead, marked: nil)
    }

    /// Takes the events of a page. If the page has no valid end, its failure is the next step, so that the events aren't lost.
    private func take(_ response: ServiceResponse<ODataPage<DynamicEntity>>, isFull: Bool, marked mark: ODataChange<Entity>?) {
        var found: [ODataChange<Entity>] = mark.map { [$0] } ?? []
        do {
            try read(response, isFull: isFull, into: &found)
        } catch {
            step = .fail(error)
        }
        events = found.reversed()
    }

    /// Reads the events of a page up to the first failure, and determines the next step.
    private func read(
        _ response: ServiceResponse<ODataPage<DynamicEntity>>, isFull: Bool, into found: inout [ODataChange<Entity>]
    ) throws {
        let page = response.value
        let base = LongQueryPolicy.base(of: response.url)
        let place = client.deltaPlace(of: page, at: base)
        if !isSilent {
            do {
                for entity in page.entities { found.append(try DeltaEntry(.object(entity), at: place).change(isWhole: isFull)) }
            } catch {
                throw client.error(
                    operation, .decoding, .decoding, "The changes can't be read: \(ServiceError.text(of: error))", cause: error,
                    response: ResponseSummary(of: response))
            }
        }
        // A service that sends both links has more pages.
        guard let link = page.nextLink ?? page.deltaLink else { throw failure(.notTracked(isConfirmed: isConfirmed)) }
        let isComplete = page.nextLink == nil
        let url = try resolved(link, page.context, base, isNext: !isComplete)
        let cursor = DeltaCursor(
            link: url.absoluteString, origin: try origin().description, fingerprint: DeltaCursor.fingerprint(of: try target()),
            isComplete: isComplete, isInFullRead: isFull && !isComplete, issuedAt: client.currentDate)
        // A cursor inside of a silent read would lead to withheld events.
        if isComplete || !isSilent { found.append(.checkpoint(cursor)) }
        guard isComplete else {
            step = .follow(cursor)
            return
        }
        isSilent = false
        restarts = 0
        seen = []
        if let interval = changes.interval { step = .wait(interval, cursor) }
    }

    /// Returns the URL of a link in a page.
    private func resolved(_ link: String, _ context: String?, _ base: URL, isNext: Bool) throws -> URL {
        do throws(ODataLinkError) {
            let named = try NextLink.url(link, context: context, page: base, root: client.linkRoot)
            // The links of a service's changes must lead to the same service.
            let policy = client.foreignLinks == .rebase ? ForeignLinkPolicy.rebase : .refuse
            let (url, _) = try NextLink.route(named, service: client.serviceOrigin ?? Origin(base), policy: policy)
            if isNext, seen.contains(url.absoluteString.hashValue) { throw .loop(NextLink.shown(url)) }
            return url
        } catch {
            throw client.error(operation, .binding, .link, error.description, cause: error)
        }
    }

    /// Returns the URL of a cursor.
    ///
    /// - Throws: `ServiceError` if the cursor belongs to another service or query.
    private func checked(_ cursor: DeltaCursor) throws -> URL {
        let origin = try origin()
        guard let url = URL(string: cursor.link), cursor.origin == origin.description, Origin(url) == origin else {
            throw failure(.otherService(VisibleText.of(String(cursor.origin.prefix(200))), service: origin.description))
        }
        guard cursor.fingerprint == DeltaCursor.fingerprint(of: try target()) else { throw failure(.otherQuery) }
        return url
    }

    private func origin() throws -> Origin {
        if let origin = client.serviceOrigin { return origin }
        let root = try client.rootURL(operation)
        guard let origin = Origin(root) else {
            let shown = SecretMask.text(ofURL: root.absoluteString)
            throw client.error(operation, .binding, .delta, "The service root \(shown) isn't an http(s) URL with a host: correct it.")
        }
        return origin
    }

    /// Returns the query's URL, relative to the service root.
    private func target() throws -> String {
        let request = changes.request
        return try client.printed(operation) { printer throws(ODataQueryError) in
            for (option, isSet) in [("$top", request.options.top != nil), ("$skip", request.options.skip != nil)] where isSet {
                throw .invalidOption(option, reason: "changes are tracked for all entities of a query; remove it, or use a filter")
            }
            return try request.relativeURL(using: printer)
        }
    }

    /// Returns the name of a token's option, which may begin with `$` or `!`.
    private func name(of option: String) throws -> String {
        let letters = option.hasPrefix("$") || option.hasPrefix("!") ? option.dropFirst() : option[...]
        guard ODataName.isIdentifier(String(letters)) else {
            let error = ODataQueryError.invalidName(option, role: "the option of a token")
            throw client.error(operation, .binding, .query, error.description, cause: error)
        }
        return option
    }

    private func failure(_ error: DeltaError) -> ServiceError {
        client.error(operation, .binding, .delta, error.description, cause: error)
    }

    /// Returns the preference that asks a service to track changes (Protocol 4.01, section 8.2.8.9).
    private static func preference(_ version: ODataVersion) -> String? {
        switch version {
        case .v2: nil
        case .v4: "odata.track-changes"
        case .v401: "track-changes"
        }
    }

    private static func confirms(_ headers: HTTPFields) -> Bool {
        headers[values: "Preference-Applied"].contains { value in
            value.split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces).lowercased().hasSuffix("track-changes") }
        }
    }
}

extension ODataClient {
    /// Returns the place of a page's entries.
    func deltaPlace<Entity>(of page: ODataPage<Entity>, at url: URL) -> DeltaPlace {
        let known = page.linkBase.root
        let context = ContextURL(
            page.context, page: url, isBeforeVersion4: known?.isBeforeVersion4 ?? (printer.version == .v2))
        let settings = PayloadSettings(types: types, context: context, userInfo: userInfo)
        return DeltaPlace(settings: settings, pageSet: DeltaContext(page.context).entitySet)
    }
}

extension ServiceError.Kind {
    /// Changes can't be tracked or applied; the cause is ``DeltaError``.
    public static let delta = Self(rawValue: "delta")
}
