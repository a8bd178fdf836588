public import Foundation
public import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Records the exchanges of a client with the real service in a file, and replays them without a network.
///
///     let cassette = try Cassette("issues.har", matching: [.key, .path, .query, .body], expiry: .days(30, then: .warn))
///     let github = GitHub(serviceRoot: "https://api.github.com") { $0.transport = cassette.transport() }
///
/// The file is an HTTP Archive (HAR 1.2), which other programs can read; files that a browser exported are replayed, too. Secrets in URLs,
/// fields, and bodies of JSON, forms and text are masked by the package's rules before anything is written. Fields that aren't known to be
/// harmless are masked as a whole: name those that the client needs in `headerRules`. Review a file before you share it.
///
/// Several recordings of equal requests answer in the order of the file; the last one repeats. Recordings made by this value don't answer
/// its own requests. Trailers, informational responses and WebSockets aren't recorded.
///
/// The file is replaced atomically. A file of up to 64 KiB is replaced after each exchange; a larger one when an eighth of it is new, and
/// when the cassette is released: call ``save()`` to be certain. Concurrent calls may use the same cassette. Two cassettes must not record
/// to the same file at the same time.
public final class Cassette: Sendable {
    /// The answer to a request.
    enum Answer {
        case recording(RecordedExchange)
        /// The request is sent. Its recording replaces those with these numbers.
        case network(replacing: Set<Int>)
    }

    private struct Loaded: Sendable {
        let exchange: RecordedExchange
        let shape: RequestShape
    }

    private struct State {
        /// The number of the next recording for each kind of request.
        var turns: [[Int]: Int] = [:]
        var used: Set<Int> = []
        var replaced: Set<Int> = []
        var added: [Int: RecordedExchange] = [:]
        var begun = 0
        var warnings: [String] = []
        /// A failure that no call has thrown yet.
        var failure: TestingFailure?
        var version = 0
        var writtenVersion = 0
        var unwrittenBytes = 0
        var bytes = 0
    }

    /// The file; `nil` for recordings in memory.
    public let file: URL?
    /// Whether the cassette sends requests and records them.
    public let mode: Mode

    let headerRules: HeaderRules
    let now: @Sendable () -> Date
    private let matching: Matching
    private let ignored: Set<String>
    private let expiry: Expiry
    private let redact: @Sendable (inout RecordedExchange) -> Void
    private let loaded: [Loaded]
    /// Whether requests that fit no recording are sent.
    private let sendsUnknown: Bool
    private let state = Locked(State())

    /// Opens a file, or prepares to create it.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative one begins at the folder of the calling source file. Missing folders are created.
    ///   - mode: Whether requests are sent and recorded. Tests without a network pass ``Mode/none``.
    ///   - matching: The parts that must be equal in a request and a recording.
    ///   - ignored: The names of query items, form items and JSON members that aren't compared, such as a timestamp.
    ///   - expiry: When recordings expire, and the action then.
    ///   - headerRules: Further fields that are known to be harmless or secret, in addition to those of the client.
    ///   - now: The current date, for expiry and recordings.
    ///   - source: The calling source file.
    ///   - redact: Redacts your own data in each exchange before it is recorded, and in each request before it is compared.
    /// - Throws: ``TestingFailure`` if the file can't be read; it names the place of the fault.
    public convenience init(
        _ path: String, mode: Mode = .once, matching: Matching = .standard, ignoring ignored: Set<String> = [], expiry: Expiry = .never,
        headerRules: HeaderRules = HeaderRules(), now: @escaping @Sendable () -> Date = { Date() }, source: String = #filePath,
        redact: @escaping @Sendable (inout RecordedExchange) -> Void = { _ in }
    ) throws {
        let folder = URL(fileURLWithPath: source).deletingLastPathComponent()
        try self.init(
            URL(fileURLWithPath: path, relativeTo: folder).absoluteURL, mode: mode, matching: matching, ignoring: ignored, expiry: expiry,
            headerRules: headerRules, now: now, redact: redact)
    }

    /// Opens a file, or prepares to create it. The parameters are the same as for the other initializer.
    ///
    /// - Throws: ``TestingFailure`` if the file can't be read; it names the place of the fault.
    public init(
        _ file: URL, mode: Mode = .once, matching: Matching = .standard, ignoring ignored: Set<String> = [], expiry: Expiry = .never,
        headerRules: HeaderRules = HeaderRules(), now: @escaping @Sendable () -> Date = { Date() },
        redact: @escaping @Sendable (inout RecordedExchange) -> Void = { _ in }
    ) throws {
        let exists = FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
        guard exists || mode != .none else {
            throw TestingFailure("There is no file \(file.lastPathComponent), and the mode is “none”: record it first with the mode “once”")
        }
        self.file = file
        self.mode = mode
        self.matching = matching
        self.ignored = ignored
        self.expiry = expiry
        self.headerRules = headerRules
        self.now = now
        self.redact = redact
        sendsUnknown = mode == .all || mode == .new || mode == .once && !exists
        let exchanges = exists ? try Self.exchanges(of: file) : []
        loaded = exchanges.map { Loaded(exchange: $0, shape: RequestShape($0, matching, ignoring: ignored)) }
        let bytes = exchanges.reduce(0) { $0 + Self.size(of: $1) }
        state.withLock { $0.bytes = bytes }
    }

    /// Makes a cassette without a file that replays these recordings and sends nothing.
    public init(_ exchanges: [RecordedExchange], matching: Matching = .standard, ignoring ignored: Set<String> = []) {
        file = nil
        mode = .none
        self.matching = matching
        self.ignored = ignored
        expiry = .never
        headerRules = HeaderRules()
        now = { Date() }
        redact = { _ in }
        sendsUnknown = false
        loaded = exchanges.map { Loaded(exchange: $0, shape: RequestShape($0, matching, ignoring: ignored)) }
    }

    deinit {
        do { try save() } catch { StandardError.write("A cassette isn't complete. \(error)\n") }
    }

    /// Reads the recordings of a file: an HTTP Archive of a cassette, of a browser, or of another program.
    ///
    /// - Throws: ``TestingFailure`` that names the file and the place of a fault, such as `log.entries[3].request.url`.
    public static func exchanges(of file: URL) throws(TestingFailure) -> [RecordedExchange] {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw TestingFailure("\(file.lastPathComponent) can't be read: check that it is a readable file.")
        }
        return try HARReader(file: file.lastPathComponent).exchanges(in: data)
    }

    /// Reads the recordings of an HTTP Archive.
    ///
    /// - Parameter name: The file's name, for errors.
    /// - Throws: ``TestingFailure`` that names the file and the place of a fault.
    @_spi(Fuzzing) public static func exchanges(in data: Data, of name: String) throws(TestingFailure) -> [RecordedExchange] {
        try HARReader(file: name).exchanges(in: data)
    }

    /// Returns the HTTP Archive of recordings.
    @_spi(Fuzzing) public static func archive(of exchanges: [RecordedExchange]) -> Data { Data(HARWriter.text(of: exchanges).utf8) }

    /// Returns a transport for clients. Several transports of a cassette share its recordings.
    ///
    /// - Parameter inner: Sends the requests that are recorded. It isn't used while recordings answer.
    public func transport(around inner: any Transport = DefaultTransport.shared) -> any Transport {
        CassetteTransport(cassette: self, inner: inner, sends: sendsUnknown || expiry.action == .recordAgain && mode != .none)
    }

    // MARK: What happened

    /// The recordings: first those of the file that weren't replaced, then the new ones in the order of the requests.
    public var exchanges: [RecordedExchange] {
        state.withLock { list($0) }
    }

    /// The keys of recordings in the file that no request had, in the order of the file.
    public var uncalledKeys: [String] {
        let used = state.withLock { $0.used }
        let called = Set(used.map { loaded[$0].exchange.key })
        var seen: Set<String> = [""]
        return loaded.map(\.exchange.key).filter { !called.contains($0) && seen.insert($0).inserted }
    }

    /// Expects that each recording of the file was used.
    ///
    /// - Throws: ``TestingFailure`` that lists the others.
    public func expectAllCalled() throws(TestingFailure) {
        let used = state.withLock { $0.used }
        let others = loaded.indices.filter { !used.contains($0) }.map { "\n  " + loaded[$0].exchange.summary }
        guard !others.isEmpty else { return }
        throw TestingFailure("No request used \(others.count) of \(loaded.count) recordings:\(others.prefix(20).joined())")
    }

    /// The expired recordings that answered, as sentences.
    public var warnings: [String] { state.withLock { $0.warnings } }

    // MARK: Answering and recording

    /// Returns the redacted form of a request.
    func redacted(_ exchange: RecordedExchange) -> RecordedExchange {
        var exchange = exchange
        redact(&exchange)
        return exchange
    }

    /// Finds the recording that answers a request, and counts it as used.
    func answer(to request: RecordedExchange) throws(TestingFailure) -> Answer {
        let asked = RequestShape(request, matching, ignoring: ignored)
        let fitting = loaded.indices.filter { fitsKey(loaded[$0].exchange, request) && loaded[$0].shape.fits(asked) }
        guard !fitting.isEmpty, mode != .all else {
            state.withLock { $0.used.formUnion(fitting) }
            guard sendsUnknown else { throw nothingFits(request, asked) }
            return .network(replacing: Set(fitting))
        }
        let number = state.withLock { state in
            let turn = state.turns[fitting, default: 0]
            state.turns[fitting] = min(turn + 1, fitting.count - 1)
            state.used.insert(fitting[turn])
            return fitting[turn]
        }
        let exchange = loaded[number].exchange
        guard let age = expiry.age, let excess = excess(of: exchange, over: age) else { return .recording(exchange) }
        let text = "The recording of \(exchange.summary) expired \(excess) days ago"
        switch expiry.action {
        case .warn: state.withLock { $0.warnings.append(text + ".") }
        case .fail: throw TestingFailure(text + ": record it again with the mode “all”")
        case .recordAgain:
            guard mode != .none else { throw TestingFailure(text + ", and the mode is “none”: record it again with the mode “once”") }
            return .network(replacing: [number])
        }
        return .recording(exchange)
    }

    private func fitsKey(_ recording: RecordedExchange, _ request: RecordedExchange) -> Bool {
        !matching.contains(.key) || recording.key.isEmpty || recording.key == request.key
    }

    /// Returns the days since a recording expired; `nil` if it hasn't.
    private func excess(of exchange: RecordedExchange, over age: Duration) -> Int? {
        let seconds = now().timeIntervalSince(exchange.startedAt) - age / .seconds(1)
        guard seconds > 0 else { return nil }
        return Int(min(seconds / 86_400, 1e6))
    }

    private func nothingFits(_ request: RecordedExchange, _ asked: RequestShape) -> TestingFailure {
        let name = file.map { " of \($0.lastPathComponent)" } ?? ""
        let what = "\(request.method) \(SecretMask.text(ofURL: request.url))" + (request.key.isEmpty ? "" : " of “\(request.key)”")
        let nearest = loaded.min { distance($0, asked, request) < distance($1, asked, request) }
        guard let nearest else { return TestingFailure("No recording\(name) fits \(what): there are none") }
        var lines = nearest.shape.differences(from: asked)
        if !fitsKey(nearest.exchange, request) { lines.insert("key: recorded \(nearest.exchange.key), requested \(request.key)", at: 0) }
        let fix = file == nil ? "" : "\nTo record it, open the cassette with the mode “new”."
        return TestingFailure(
            "No recording\(name) fits \(what). The nearest of \(loaded.count) is \(nearest.exchange.summary), which differs in"
                + lines.map { "\n  " + $0 }.joined() + fix)
    }

    private func distance(_ recording: Loaded, _ asked: RequestShape, _ request: RecordedExchange) -> Int {
        recording.shape.distance(from: asked) + (fitsKey(recording.exchange, request) ? 0 : 3)
    }

    /// Returns the number of a new request: recordings are in the order of their requests.
    func begin() -> Int {
        state.withLock { state in
            state.begun += 1
            return state.begun
        }
    }

    /// Adds a recording in place of others, and writes the file if it is due.
    func add(_ exchange: RecordedExchange, number: Int, replacing numbers: Set<Int>) throws(TestingFailure) {
        let exchange = redacted(exchange)
        let size = Self.size(of: exchange)
        let isDue = state.withLock { state in
            state.added[number] = exchange
            state.replaced.formUnion(numbers)
            state.version += 1
            state.bytes += size
            state.unwrittenBytes += size
            return state.bytes <= 64 << 10 || state.unwrittenBytes > state.bytes / 8
        }
        if isDue { try save() }
    }

    /// The approximate number of bytes of a recording in the file.
    private static func size(of exchange: RecordedExchange) -> Int {
        1_000 + exchange.url.utf8.count + exchange.requestBody.count + (exchange.responseBody?.count ?? 0)
    }

    /// Keeps a failure for the next call, because no call waits for it now.
    func fail(_ failure: TestingFailure) {
        state.withLock { $0.failure = $0.failure ?? failure }
    }

    /// Throws a failure that no call has thrown yet.
    func check() throws(TestingFailure) {
        let failure = state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
        if let failure { throw failure }
    }

    private func list(_ state: State) -> [RecordedExchange] {
        loaded.indices.filter { !state.replaced.contains($0) }.map { loaded[$0].exchange }
            + state.added.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Writes the file, if there are new recordings.
    ///
    /// - Throws: ``TestingFailure`` if the file can't be written, or if the recording of a body failed after its call had ended.
    public func save() throws(TestingFailure) {
        try check()
        guard let file else { return }
        let (version, exchanges) = state.withLock { state in
            state.unwrittenBytes = 0
            return (state.version, state.version > state.writtenVersion ? list(state) : [])
        }
        guard !exchanges.isEmpty else { return }
        let path = file.path(percentEncoded: false)
        let temporary = "\(path).\(UUID().uuidString)"
        do {
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(HARWriter.text(of: exchanges).utf8).write(to: URL(fileURLWithPath: temporary))
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw TestingFailure("\(file.lastPathComponent) can't be written: check its folder and the space on the disk")
        }
        // A concurrent call may have written a later version.
        let code = state.withLock { state -> Int32 in
            guard version > state.writtenVersion else { return -1 }
            guard renameFile(temporary, path) == 0 else { return errno }
            state.writtenVersion = version
            return 0
        }
        if code != 0 { try? FileManager.default.removeItem(atPath: temporary) }
        if code > 0 { throw TestingFailure("\(file.lastPathComponent) can't be replaced: \(String(cString: strerror(code)))") }
    }
}

// Calls the system's function, which a member of the same name would hide.
private func renameFile(_ old: String, _ new: String) -> Int32 { rename(old, new) }
