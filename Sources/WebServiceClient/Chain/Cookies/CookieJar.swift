public import Foundation

/// Keeps the cookies of services (RFC 6265bis), in memory or in a file.
///
///     let jar = try CookieJar(file: folder.appending(path: "cookies.txt"))
///     let shop = Shop(serviceRoot: "https://shop.example.com") { $0.cookies = jar }
///
/// A client without a jar sends and keeps no cookies. Several clients may share a jar, and any number of tasks may use it at once.
///
/// A jar holds at most 180 cookies of a domain and 3,000 in all; further ones replace those that were used least recently. A response may
/// set at most 50, each with at most 4,096 bytes of name and value, and a request carries at most 150 cookies and 8,190 bytes: the limits
/// of curl and of most servers. Diagnostics name the cookies that are refused or left out.
public final class CookieJar: Sendable {
    /// The maximum number of cookies that a response may set.
    static let fieldLimit = 50

    private let store: Locked<CookieStore>
    private let suffixes: PublicSuffixes
    /// The file; `nil` for a jar in memory.
    let file: CookieFile?
    /// A text that distinguishes the jar from others, for the cache: the file's place, which later runs of the program know too, or a
    /// random one.
    let identity: String
    /// The lines, from 1, of the jar's file that hold no cookie. The first change of the file removes them.
    public let unreadLines: [Int]

    /// Creates an empty jar in memory.
    ///
    /// - Parameter publicSuffixes: The domains that cookies can't be set for.
    public init(publicSuffixes: PublicSuffixes = .system) {
        store = Locked(CookieStore())
        suffixes = publicSuffixes
        file = nil
        identity = UUID().uuidString
        unreadLines = []
    }

    /// Creates a jar with the cookies of a file, which each change replaces.
    ///
    /// The file has the format of curl and wget; only its owner can read it. It is replaced atomically, before the call whose response
    /// changes a cookie returns. Writes aren't synced to the disk: a power failure may undo the last ones. If a write fails, the calls
    /// continue with the cookies in memory, and the diagnostics report it once.
    ///
    /// Several jars, also of several processes, may have the same file. Each writes its own changes only and takes over those of the others
    /// when it writes, or with ``synchronize()``; of two changes of one cookie, the last one written wins. This needs a file system with
    /// `flock`; without it, a change made in the same moment may be lost.
    ///
    /// - Parameters:
    ///   - file: The file, which needn't exist. Its folder must.
    ///   - keepsSessionCookies: Whether session cookies, which end with the program, are kept in the file too. Use it for command-line
    ///     tools that stay logged in from run to run. Default false.
    ///   - publicSuffixes: The domains that cookies can't be set for.
    /// - Throws: ``CookieFileError`` if the folder is missing, or the file can't be read.
    public init(
        file: URL, keepsSessionCookies: Bool = false, publicSuffixes: PublicSuffixes = .system
    ) throws(CookieFileError) {
        let store = Locked(CookieStore(tracksChanges: true, keepsSessionCookies: keepsSessionCookies))
        self.store = store
        suffixes = publicSuffixes
        let cookieFile = try CookieFile(file, store: store)
        unreadLines = try cookieFile.read()
        self.file = cookieFile
        identity = file.standardizedFileURL.path(percentEncoded: false)
    }

    // MARK: Inspecting

    /// The cookies that haven't ended, in the order in which they were first set.
    public var all: [Cookie] { store.withLock { $0.all(at: Date()) } }

    /// Returns the cookies that a request to a URL carries, in the order of sending: longer paths first, then earlier ones.
    ///
    /// It returns those that belong to the URL by RFC 6265bis §5.8.3, even if a client's ``CookiePolicy`` keeps them from being sent. Empty
    /// if the URL isn't an absolute http or https URL.
    public func cookies(for url: URL) -> [Cookie] {
        guard let place = CookiePlace(url) else { return [] }
        return store.withLock { $0.cookies(for: place, at: Date()) }
    }

    // MARK: Editing

    /// Puts a cookie into the jar. It replaces one with the same name, domain and path; a cookie that has ended removes it.
    public func set(_ cookie: Cookie) {
        change { $0.put(cookie, at: Date()) }
    }

    /// Stores the cookies of a response that another HTTP client received, by the rules for the URL that answered.
    ///
    /// - Returns: A sentence for each cookie that is refused, with its name and the reason.
    @discardableResult
    public func store(_ headers: HTTPFields, from url: URL) -> [String] {
        guard let place = CookiePlace(url) else { return [] }
        let refusals = receive(headers, from: place, at: Date())
        file?.schedule()
        return refusals
    }

    /// Removes the cookies for which a closure returns true.
    ///
    /// - Returns: The number of cookies removed.
    @discardableResult
    public func remove(where isRemoved: (Cookie) throws -> Bool) rethrows -> Int {
        // Other code must not run while the lock is held.
        let removed = try all.filter(isRemoved)
        return change { store in removed.count { store.remove($0) } }
    }

    /// Removes the cookies without an end, as browsers do when they quit.
    public func removeSessionCookies() {
        remove { $0.expires == nil }
    }

    /// Removes all cookies.
    public func clear() {
        change { $0.clear() }
    }

    private func change<Result>(_ body: (inout CookieStore) -> Result) -> Result {
        let result = store.withLock(body)
        file?.schedule()
        return result
    }

    // MARK: Files

    /// Writes this jar's changes to its file and reads the changes of other processes. It blocks the thread until both are done. It has no
    /// effect on a jar in memory.
    ///
    /// Call it before the program exits if it has just edited the jar; calls wait for their own changes.
    ///
    /// - Throws: ``CookieFileError`` if the file can't be read or written. The changes stay in memory.
    public func synchronize() throws(CookieFileError) {
        try file?.synchronize()
    }

    /// Puts the cookies of a file of curl, wget or Python into the jar.
    ///
    /// - Parameter data: The file's content: a cookie per line, in the format of Netscape. A line that begins with `#HttpOnly_` is a
    ///   cookie.
    /// - Returns: The numbers of the lines, from 1, that are neither cookie, comment nor blank.
    @discardableResult
    public func importNetscape(_ data: Data) -> [Int] {
        let now = Date()
        let (cookies, unread) = NetscapeCookies.cookies(in: data, now: now)
        change { store in
            for cookie in cookies { store.put(cookie, at: now) }
        }
        return unread
    }

    /// Returns the cookies as a file that curl (`-b`), wget and Python read. It contains the values: keep it private.
    ///
    /// The format has no `SameSite`, and no place for a name with a tab, whose cookie is left out.
    ///
    /// - Parameter includingSessionCookies: Whether session cookies are included, as curl does. Default true.
    public func netscape(includingSessionCookies: Bool = true) -> Data {
        NetscapeCookies.data(of: all.filter { includingSessionCookies || $0.expires != nil })
    }

    // MARK: Calls

    /// Adds the cookies for a place to a request. Those that the request has already keep their values.
    ///
    /// - Returns: The number of cookies that exceed the limits and were left out.
    func add(to request: inout ServiceRequest, for place: CookiePlace, at now: Date) -> Int {
        // Most requests don't have the field.
        let isPresent = request.headers.contains(.cookie)
        var field = isPresent ? request.headers.cookieField : []
        let own = isPresent ? Self.names(in: field) : []
        let before = field.count
        let omitted = store.withLock { $0.append(to: &field, for: place, omitting: own, at: now) }
        guard field.count > before else { return omitted }
        if !isPresent, let text = String(validating: field, as: UTF8.self) {
            request.headers.append(.cookie, text)
        } else {
            request.headers.set(.cookie, bytes: field)
        }
        return omitted
    }

    /// The `Cookie` field that a request will have; `nil` for none.
    func field(for request: ServiceRequest, at now: Date) -> String? {
        var request = request
        if let place = CookiePlace(request.url) { _ = add(to: &request, for: place, at: now) }
        return request.headers[.cookie]
    }

    /// The cookies of a request that may name its user, as a text for comparisons: those that scripts can't read, and those whose names
    /// suggest a session or a token. Others, such as those of load balancers, may change with each response.
    func credentials(for request: ServiceRequest, at now: Date) -> String {
        guard let place = CookiePlace(request.url) else { return "" }
        let cookies = store.withLock { $0.cookies(for: place, at: now) }
        return cookies.filter { $0.isHTTPOnly || Self.namesUser($0.name.lowercased()) }.map { "\($0.name)=\($0.value)" }
            .joined(separator: "\n")
    }

    private static func namesUser(_ name: String) -> Bool {
        if name.contains("csrf") || name.contains("xsrf") { return false }
        return name.contains("sess") || SecretMask.hidesParameter(named: name)
    }

    /// The names of the cookies in a `Cookie` field.
    private static func names(in field: [UInt8]) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        for pair in field.split(separator: UInt8(ascii: ";")) {
            let sign = pair.firstIndex(of: UInt8(ascii: "="))
            names.insert(sign.map { Array(SetCookieParser.trimmed(pair[..<$0])) } ?? [])
        }
        return names
    }

    /// Stores the cookies of a response, each `Set-Cookie` field by itself.
    ///
    /// - Returns: A sentence for each refused cookie; at most a few, the last with the number of the others.
    func receive(_ headers: HTTPFields, from place: CookiePlace, at now: Date) -> [String] {
        let fields = headers.bytes(of: .setCookie)
        var refused: [(name: [UInt8], reason: CookieRefusal)] = []
        var cookies: [Cookie] = []
        for field in fields.prefix(Self.fieldLimit) {
            do throws(CookieRefusal) {
                // Outside the lock: the first domain reads the list of public suffixes.
                cookies.append(try SetCookieParser.parse(field).cookie(from: place, suffixes, now: now))
            } catch {
                refused.append((Self.name(of: field), error))
            }
        }
        store.withLock { store in
            for cookie in cookies {
                do throws(CookieRefusal) {
                    try store.store(cookie, from: place, at: now)
                } catch {
                    refused.append((cookie.nameBytes, error))
                }
            }
        }
        for field in fields.dropFirst(Self.fieldLimit) { refused.append((Self.name(of: field), .number)) }
        var texts = refused.prefix(5).map { "The cookie \(Cookie.shown($0.name)) isn't kept: \($0.reason.rawValue)." }
        if refused.count > 5 { texts.append("\(refused.count - 5) more cookies of the response aren't kept.") }
        return texts
    }

    /// The name in a field that may not be a cookie.
    private static func name(of field: [UInt8]) -> [UInt8] {
        let pair = field.prefix { $0 != UInt8(ascii: ";") }
        guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
        return Array(SetCookieParser.trimmed(pair[..<sign]))
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of cookies and the file's name, without the cookies.
    public var description: String {
        let count = all.count
        return "CookieJar(\(count) \(count == 1 ? "cookie" : "cookies"), \(file.map { "in \($0.name)" } ?? "in memory"))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``: a dump shows no values.
    public var customMirror: Mirror { Mirror(self, children: ["jar": description]) }
}
