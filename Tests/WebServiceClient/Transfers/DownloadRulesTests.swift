import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

/// The values that a download uses: fields, decisions, records.
@Suite struct DownloadRulesTests {
    // MARK: Fields

    @Test func `the position of an upload`() {
        #expect([nil, "bytes=0-42", "bytes=0-0"].map { ContentRangeUpload.received($0) } == [0, 43, 1])
        for text in ["bytes=1-4", "0-42", "bytes=", "bytes=0-", "bytes 0-42", "bytes=0-9223372036854775807"] {
            #expect(ContentRangeUpload.received(text) == nil)
        }
        #expect(ContentRangeUpload.field(0..<10, of: 20) == "bytes 0-9/20" && ContentRangeUpload.field(0..<0, of: 0) == "bytes */0")
    }

    @Test func `strong validators`() {
        func of(_ fields: HTTPFields) -> EntityValidator? { EntityValidator(fields) }
        let (at, later) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT")
        #expect(of(["ETag": "\"a\""]) == .tag("\"a\"") && of(["ETag": "\"\""]) == .tag("\"\""))
        #expect(of(["ETag": "\"a\"", "Last-Modified": at, "Date": later]) == .tag("\"a\""))
        #expect(of(["Last-Modified": at, "Date": later]) == .date(at))
        // The file may have changed twice in this second (RFC 9110 §8.8.2.2).
        #expect(of(["Last-Modified": at, "Date": at]) == nil && of(["Last-Modified": later, "Date": at]) == nil)
        #expect(of(["Last-Modified": at]) == nil && of(["Last-Modified": "yesterday", "Date": later]) == nil)
        // With an entity tag, no date is used, even if the tag is weak (§13.1.5).
        for tag in ["W/\"a\"", "a", "\"", "\"a\"b\"", "\"a\u{7F}\"", "\"a\", \"b\"", "\"a b\""] {
            #expect(of(["ETag": tag, "Last-Modified": at, "Date": later]) == nil)
        }
        #expect(EntityValidator.tag("\"a\"").fits([:]) && !EntityValidator.tag("\"a\"").fits(["ETag": "W/\"a\""]))
    }

    // MARK: Judgements

    private static let record = DownloadRecord(url: "https://a.test/f", validator: .tag("\"1\""), length: 100)
    private static let question = DownloadVerdict.Question(position: 40, end: nil, isRange: true)

    private func verdict(
        _ status: Int, _ headers: HTTPFields, _ question: DownloadVerdict.Question = Self.question,
        of record: DownloadRecord? = Self.record
    ) -> DownloadVerdict {
        DownloadVerdict(status: status, headers: headers, to: question, of: record)
    }

    private func restart(_ verdict: DownloadVerdict) -> DownloadVerdict.StartOver? {
        if case .startOver(let reason) = verdict { reason } else { nil }
    }

    @Test func `a part that continues the file`() {
        #expect(verdict(206, ["Content-Range": "bytes 40-99/100", "ETag": "\"1\""]) == .part(from: 40, upTo: 100, total: 100))
        // The tag may be missing, the part shorter, and the total unknown.
        #expect(verdict(206, ["Content-Range": "bytes 40-59/*"]) == .part(from: 40, upTo: 60, total: nil))
        // A part that begins before is written over.
        #expect(verdict(206, ["Content-Range": "bytes 30-99/100"]) == .part(from: 30, upTo: 100, total: 100))
    }

    @Test(
        arguments: [
            ["Content-Range": "bytes 41-99/100"], ["Content-Range": "bytes 0-39/100"], ["Content-Range": "bytes 40-99/101"],
            ["Content-Range": "bytes 40-99/100", "ETag": "\"2\""], ["Content-Range": "bytes 40-99/100", "ETag": "W/\"1\""],
            ["Content-Range": "items 40-99/100"], [:], ["Content-Range": "bytes */100"],
            ["Content-Type": "multipart/byteranges; boundary=x"],
            ["Content-Range": "bytes 40-99/100", "Content-Type": "Multipart/ByteRanges; boundary=x"],
            ["Content-Range": "bytes 40-99/100", "Content-Encoding": "gzip"],
        ] as [HTTPFields])
    func `a part that can't be combined`(headers: HTTPFields) {
        #expect(restart(verdict(206, headers)) != nil)
    }

    @Test func `parts in other situations`() {
        // No range was asked for.
        let whole = DownloadVerdict.Question(position: 0, end: nil, isRange: false)
        #expect(restart(verdict(206, ["Content-Range": "bytes 0-99/100"], whole, of: nil))?.hasBadRanges == true)
        // One of several pieces isn't written over.
        var piece = Self.question
        piece.isSequential = false
        #expect(restart(verdict(206, ["Content-Range": "bytes 30-99/100"], piece)) != nil)
        #expect(piece.range == "bytes=40-")
        piece.end = 50
        #expect(piece.range == "bytes=40-49")
    }

    @Test func `other statuses`() {
        #expect(verdict(200, ["ETag": "\"1\""]) == .whole && verdict(200, ["Content-Encoding": "identity"]) == .whole)
        #expect(restart(verdict(200, ["Content-Encoding": "br"]))?.isCoded == true)
        var done = Self.question
        done.position = 100
        #expect(verdict(416, ["Content-Range": "bytes */100"], done) == .complete)
        #expect(restart(verdict(416, ["Content-Range": "bytes */100", "ETag": "\"2\""], done)) != nil)
        #expect(restart(verdict(416, ["Content-Range": "bytes */100"])) != nil && restart(verdict(416, [:], done)) != nil)
        #expect(restart(verdict(416, ["Content-Range": "bytes */99"], done)) != nil)
        done.isRange = false
        #expect(restart(verdict(416, ["Content-Range": "bytes */100"], done)) != nil)
    }

    // MARK: Records

    @Test func `a record survives its file`() throws {
        var record = Self.record
        record.checksums = [.sha256(String(repeating: "ab", count: 32))]
        record.split(for: 4)
        let data = try record.data()
        #expect(DownloadRecord(data) == record)
        #expect(String(decoding: data, as: UTF8.self).contains("\"version\":1"))
    }

    @Test func `damaged records are none`() throws {
        let text = String(decoding: try Self.record.data(), as: UTF8.self)
        #expect(DownloadRecord(Data(text.utf8)) != nil)
        let changes = [
            ("\"version\":1", "\"version\":2"), ("\"start\":0", "\"start\":1"), ("\"done\":0", "\"done\":-1"),
            ("\"done\":0", "\"done\":101"), ("\"synced\":0", "\"synced\":1"), ("\"end\":100", "\"end\":99"),
            ("\"length\":100", "\"length\":-1"), ("\"length\":100", "\"length\":1e400"), ("\\\"1\\\"", "W/\\\"1\\\""),
            ("\\\"1\\\"", "\\\"1\\\"\\r\\nX: y"), ("\"pieces\":[", "\"pieces\":[],\"x\":["),
            ("\"end\":100", "\"end\":9223372036854775807"),
        ]
        for (before, after) in changes {
            let changed = text.replacing(before, with: after)
            #expect(changed != text && DownloadRecord(Data(changed.utf8)) == nil, "\(after)")
        }
        for count in 0..<text.utf8.count { #expect(DownloadRecord(Data(text.utf8.prefix(count))) == nil) }
        var random = SeededGenerator(seed: 5)
        for _ in 0..<Sweep.rounds(ofAll: 2_000) {
            var bytes = [UInt8](text.utf8)
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            guard var record = DownloadRecord(Data(bytes)) else { continue }
            _ = record.adjust(toFileOf: .random(in: 0...200, using: &random), boot: nil)
            record.split(for: 16)
            #expect(record.done >= 0)
        }
    }

    @Test func `the file decides how much is there`() {
        var record = Self.record
        record.boot = "a"
        record.pieces[0].done = 10
        record.pieces[0].synced = 5
        func adjusted(_ size: Int64, _ boot: String?) -> DownloadRecord? {
            var copy = record
            return copy.adjust(toFileOf: size, boot: boot) ? copy : nil
        }
        #expect(adjusted(70, "a")?.done == 70)
        // After a restart of the system, only what was synchronized counts.
        #expect(adjusted(70, "b")?.done == 5 && adjusted(70, "b")?.boot == "b" && adjusted(70, nil)?.done == 5)
        #expect(adjusted(101, "a") == nil && adjusted(4, "a") == nil)
        record.validator = nil
        #expect(adjusted(70, "a") == nil)
    }

    @Test func `pieces cover the file`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<Sweep.rounds(ofAll: 800) {
            let length = Int64.random(in: 0...40 << 20, using: &random)
            var record = DownloadRecord(url: "u", validator: .tag("\"1\""), length: length)
            for _ in 0..<6 {
                for index in record.pieces.indices {
                    record.pieces[index].done += Int64.random(in: 0...(record.pieces[index].missing ?? 0), using: &random) / 2
                }
                let done = record.done
                let segments = Int.random(in: 1...20, using: &random)
                record.split(for: segments)
                #expect(record.done == done && record.pieces.first?.start == 0 && record.pieces.last?.end == length)
                for (piece, next) in zip(record.pieces, record.pieces.dropFirst()) { #expect(piece.end == next.start) }
                #expect(record.pieces.allSatisfy { $0.done >= 0 && $0.missing ?? -1 >= 0 })
                let data = (try? record.data()) ?? Data()
                #expect(DownloadRecord(data) == record)
            }
        }
        var open = DownloadRecord(url: "u", validator: .tag("\"1\""), length: nil)
        open.split(for: 4)
        #expect(open.pieces.count == 1)
    }

    @Test func checksums() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(ContentDigest.sha256(empty).isValid && ContentDigest.sha256(empty.uppercased()) == .sha256(empty))
        for text in ["", "e3", "e3b", String(repeating: "g", count: 64), "é" + empty.dropFirst(2)] {
            #expect(!ContentDigest.sha256(text).isValid)
            #expect(throws: TransferError.self) { try DownloadOptions(checksum: .sha256(text)).check() }
        }
        let field = "unixsum=:AAA=:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
        #expect(DownloadRecord.checksums(in: ["Repr-Digest": field], isWhole: false) == [.sha256(empty)])
        #expect(DownloadRecord.checksums(in: ["Repr-Digest": "sha-256=broken"], isWhole: true).isEmpty)
        #expect(DownloadRecord.checksums(in: ["Repr-Digest": "sha-256=:AA==:, md5=:1B2M2Y8AsgTpgAmY7PhCfg==:"], isWhole: true).isEmpty)
        let long = ContentDigest.fieldValue(of: [.of(Data(), .sha512)])
        #expect(DownloadRecord.checksums(in: ["Repr-Digest": long], isWhole: false) == [.of(Data(), .sha512)])
        let coded: HTTPFields = ["Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg=="]
        #expect(DownloadRecord.checksums(in: coded, isWhole: true).map(\.algorithm) == [.md5])
        // The digest of a part covers only the part.
        #expect(DownloadRecord.checksums(in: coded, isWhole: false).isEmpty)
    }

    @Test func `the pace counts from the last progress`() {
        let policy = RetryPolicy(attempts: 3, backoff: Backoff(base: .seconds(1), jitter: .none), longestTotal: .seconds(10))
        let now = Locked(MonotonicInstant.now)
        let clock = CallClock(now: { now.withLock { $0 } }, date: { Date() }, schedule: { _, _ in {} })
        let first = TransferPace(policy, clock: clock, end: nil)
        let pace = Locked(first)
        func wait(_ asked: Duration? = nil) -> Duration? { pace.withLock { $0.wait(asked) } }
        #expect([wait(), wait(), wait()] == [.seconds(1), .seconds(2), nil])
        pace.withLock { $0.progressed() }
        #expect(wait() == .seconds(1))
        now.withLock { $0 = $0.advanced(by: .seconds(9)) }
        #expect(wait() == nil)
        pace.withLock { $0.progressed() }
        #expect(wait(.seconds(61)) == nil)
        #expect(pace.withLock { $0.wait(after: CancellationError()) } == nil)
        // Many clients may have received the same time.
        var spread = policy
        spread.backoff.jitter = .full
        pace.withLock { [spread] in $0 = TransferPace(spread, clock: clock, end: nil, random: { 0.25 }) }
        #expect([wait(), wait(.seconds(2))] == [.milliseconds(250), .milliseconds(2_250)])
        pace.withLock { $0 = TransferPace(.never, clock: clock, end: nil) }
        #expect(wait() == nil)
        pace.withLock { $0 = TransferPace(policy, clock: clock, end: clock.now().advanced(by: .milliseconds(500))) }
        #expect(wait() == nil)
    }
}
