import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CookieFileTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url.appending(path: "cookies.txt") }

    private static let later = Date().addingTimeInterval(100 * 86_400)

    private func cookie(_ name: String, _ value: String = "1", session: Bool = false) throws -> Cookie {
        try Cookie(name: name, value: value, domain: "a.test", expires: session ? nil : Self.later)
    }

    private var text: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    @Test func `cookies outlive the jar, session cookies don't`() throws {
        do {
            let jar = try CookieJar(file: file)
            jar.set(try Cookie(name: "kept", value: "v", domain: "a.test", path: "/p", isSecure: true, sameSite: .lax, expires: Self.later))
            jar.set(try cookie("session", session: true))
            try jar.synchronize()
            #expect("\(jar)" == "CookieJar(2 cookies, in cookies.txt)" && !"\(jar)".contains(folder.url.lastPathComponent))
        }
        let jar = try CookieJar(file: file)
        let cookie = try #require(jar.all.first)
        #expect(jar.all.count == 1 && cookie.name == "kept" && cookie.value == "v" && cookie.sameSite == .lax && cookie.isSecure)
        #expect(abs(cookie.created.timeIntervalSinceNow) < 3600 && jar.unreadLines == [])
    }

    @Test func `session cookies are kept on request`() throws {
        let jar = try CookieJar(file: file, keepsSessionCookies: true)
        jar.set(try cookie("session", session: true))
        try jar.synchronize()
        #expect(try CookieJar(file: file).all.map(\.name) == ["session"])
        jar.removeSessionCookies()
        try jar.synchronize()
        #expect(try CookieJar(file: file).all.isEmpty)
    }

    @Test func `only the owner can read the file, and nothing else stays in the folder`() throws {
        try Data("# Netscape HTTP Cookie File\na.test\tFALSE\t/\tFALSE\t0\told\t1\nodd\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path(percentEncoded: false))
        try Data().write(to: folder.url.appending(path: ".cookies.txt.abc123.tmp"))
        let jar = try CookieJar(file: file)
        #expect(jar.unreadLines == [3] && jar.all.map(\.name) == ["old"])
        jar.set(try cookie("new"))
        try jar.synchronize()
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
        #expect((attributes[.posixPermissions] as? Int) == 0o600 && folder.names == ["cookies.txt"])
        #expect(text.contains("new") && !text.contains("odd"))
    }

    @Test func `without changes the file isn't written`() throws {
        let jar = try CookieJar(file: file)
        jar.set(try cookie("a"))
        try jar.synchronize()
        let node = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))[.systemFileNumber] as? Int
        jar.set(try cookie("a"))
        jar.set(try cookie("session", session: true))
        try jar.synchronize()
        #expect(try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))[.systemFileNumber] as? Int == node)
    }

    @Test func `jars of one file merge their changes`() throws {
        let (one, other) = (try CookieJar(file: file), try CookieJar(file: file))
        one.set(try cookie("a", "one"))
        one.set(try cookie("both", "one"))
        try one.synchronize()
        other.set(try cookie("b", "other"))
        other.set(try cookie("both", "other"))
        try other.synchronize()
        #expect(Set(other.all.map { "\($0.name)=\($0.value)" }) == ["a=one", "b=other", "both=other"])
        try one.synchronize()
        #expect(Set(one.all.map { "\($0.name)=\($0.value)" }) == ["a=one", "b=other", "both=other"])
        one.remove { $0.name == "b" }
        try one.synchronize()
        other.set(try cookie("c"))
        try other.synchronize()
        #expect(Set(other.all.map(\.name)) == ["a", "both", "c"], "what another jar removed is gone")
        one.clear()
        try one.synchronize()
        #expect(try CookieJar(file: file).all.map(\.name) == ["c"], "cleared what it knew")
    }

    @Test func `many jars and threads lose nothing`() async throws {
        let file = file
        let jars = try (0..<4).map { _ in try CookieJar(file: file) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, jar) in jars.enumerated() {
                group.addTask {
                    for step in 0..<25 {
                        jar.set(try Cookie(name: "n\(number)-\(step)", value: "1", domain: "a.test", expires: Self.later))
                        if step % 5 == 0 { try jar.synchronize() }
                    }
                    try jar.synchronize()
                }
            }
            try await group.waitForAll()
        }
        #expect(try CookieJar(file: file).all.count == 100)
        #expect(folder.names == ["cookies.txt"])
    }

    @Test func `a symbolic link stays one`() throws {
        let link = folder.url.appending(path: "link.txt")
        try Data().write(to: file)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let jar = try CookieJar(file: link)
        jar.set(try cookie("a"))
        try jar.synchronize()
        #expect(text.contains("\ta\t1\n"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path(percentEncoded: false)).hasSuffix("cookies.txt"))
    }

    @Test func `a file that can't be read is an error that names it`() throws {
        let absent = folder.url.appending(path: "absent/cookies.txt")
        #expect(try #require(throws: CookieFileError.self) { try CookieJar(file: absent) }.message.contains("create absent"))
        #expect(try #require(throws: CookieFileError.self) { try CookieJar(file: folder.url) }.message.contains("regular file"))
        let web = try #require(URL(string: "https://a.test/c"))
        #expect(try #require(throws: CookieFileError.self) { try CookieJar(file: web) }.message.contains("file URL"))
    }

    @Test func `calls go on when the file can't be written, and the diagnostics say so once`() async throws {
        let sub = folder.url.appending(path: "sub", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: true)
        let jar = try CookieJar(file: sub.appending(path: "cookies.txt"))
        try FileManager.default.removeItem(at: sub)
        let events = Locked<[String]>([])
        let (client, stub) = Store.stubbed(
            .inTurn(
                .status(204, headers: ["Set-Cookie": "a=1; Max-Age=6000; Path=/"]),
                .status(204, headers: ["Set-Cookie": "b=s3cret; Max-Age=6000; Path=/"]), .status(204))
        ) {
            $0.cookies = jar
            $0.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
        }
        for _ in 0..<3 { try await client.http.get("/a").send() }
        #expect(stub.requests.map { $0.request.headers[.cookie] } == [nil, "a=1", "a=1; b=s3cret"])
        let told = events.withLock { $0 }
        #expect(told.count == 1 && told[0].contains("cookies.txt can't be written") && !told[0].contains("s3cret"))
        #expect(throws: CookieFileError.self) { try jar.synchronize() }
        try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: true)
        try jar.synchronize()
        #expect(try CookieJar(file: sub.appending(path: "cookies.txt")).all.map(\.name) == ["a", "b"])
    }

    @Test func `a call returns when its cookies are in the file`() async throws {
        let jar = try CookieJar(file: file)
        let (client, _) = Store.stubbed(.status(204, headers: ["Set-Cookie": "a=1; Max-Age=6000; Path=/"])) { $0.cookies = jar }
        try await client.http.get("/a").send()
        #expect(text.contains("\ta\t1\n"))
        #expect(try CookieJar(file: file).all.map(\.name) == ["a"])
    }
}
