import Foundation
import WebServiceClient

/// A client with a cache in a folder, whose service makes up its answers. Each body tells its path and its version, and the rest follows
/// from these, so that a wrong or a mixed one is found.
struct CacheProbe {
    private struct Service: Transport {
        let capabilities = TransportCapabilities(rawValue: .max)

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            guard request.method == .get else { return TransportResponse(status: 204, url: request.url) }
            let version = UInt64.random(in: .min ... .max)
            var headers: HTTPFields = ["Cache-Control": "max-age=86400", "ETag": "\"\(version)\"", "X-Version": "\(version)"]
            if let known = request.headers["If-None-Match"], version.isMultiple(of: 2) {
                headers["ETag"] = known
                headers["X-Version"] = nil
                headers["X-Validated"] = "\(version)"
                return TransportResponse(status: 304, headers: headers, url: request.url)
            }
            let body = CacheProbe.body(request.url.path, version)
            headers["Content-Length"] = "\(body.count)"
            return TransportResponse(status: 200, headers: headers, url: request.url, body: ResponseBody(body))
        }
    }

    /// The findings of a probe.
    struct Accounts {
        var calls = 0
        var hits = 0
        var faults: [String] = []
    }

    let client: WebServiceClient
    let cache: ResponseCache
    /// The number of warnings. The store reports a problem once.
    let warnings = Warnings()

    init(folder: String, limit: Int) {
        let cache = ResponseCache(directory: URL(filePath: folder), limit: limit)
        self.cache = cache
        let warnings = warnings
        client = WebServiceClient(serviceRoot: "https://service.example.com") {
            $0.transport = Service()
            $0.cache = cache
            $0.diagnostics = Diagnostics { event in if event.level == .warning { warnings.add(event.message) } }
        }
    }

    /// The body of a version: 50 bytes to 120 kB.
    static func body(_ path: String, _ version: UInt64) -> Data {
        let length = version % 3 == 0 ? Int(version % 120_000) : Int(version % 3_000)
        var body = Data("\(path) \(version) \(length)\n".utf8)
        var state = version | 1
        while body.count < length {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            withUnsafeBytes(of: state.bigEndian) { body.append(contentsOf: $0) }
        }
        return body
    }

    /// Makes calls until a number of them is reached.
    func work(_ count: Int, paths: Int, onFirst: () -> Void = {}) async -> Accounts {
        var accounts = Accounts()
        for number in 0..<count {
            let path = Int.random(in: 0..<paths)
            switch Int.random(in: 0..<100) {
            case 0..<3: _ = try? await client.http.post("/%%0%%", path).send()
            case 3: await cache.flush(urlPrefix: "https://service.example.com/\(path)")
            case 4..<50: await check(path, .reload, &accounts)
            case 50..<70: await check(path, .revalidate, &accounts)
            default: await check(path, .standard, &accounts)
            }
            accounts.calls += 1
            if number == 20 { onFirst() }
        }
        return accounts
    }

    /// Checks all responses that are stored.
    func checkAll() async -> Accounts {
        var accounts = Accounts()
        for entry in await cache.entries() {
            guard let path = URL(string: entry.url)?.lastPathComponent else { continue }
            await check(path, .onlyCached, &accounts)
            accounts.calls += 1
        }
        return accounts
    }

    /// Makes a call, and checks its body.
    private func check(_ path: any Sendable & CustomStringConvertible, _ mode: CacheMode, _ accounts: inout Accounts) async {
        do {
            let response = try await client.with(mode) { try await $0.http.get("/%%0%%", path).accepting(.any).response(Data.self) }
            if response.source != .network { accounts.hits += 1 }
            guard response.status == 200 else {
                if response.status != 504 || mode != .onlyCached { accounts.faults.append("\(path): status \(response.status)") }
                return
            }
            guard let version = response.headers["X-Version"].flatMap({ UInt64($0) }) else {
                accounts.faults.append("\(path): no version")
                return
            }
            if response.value != Self.body("/\(path)", version) { accounts.faults.append("\(path): not the body of its version") }
        } catch {
            // A stored body that is damaged ends the call with an error, and is removed. No byte of it is delivered as a whole.
            accounts.faults.append("\(path): \(error)")
        }
    }
}

/// Collects warnings.
final class Warnings: @unchecked Sendable {
    // `@unchecked Sendable`: the lock guards the list.
    private let lock = NSLock()
    private var list: [String] = []

    func add(_ text: String) { lock.withLock { list.append(text) } }

    var all: [String] { lock.withLock { list } }
}
