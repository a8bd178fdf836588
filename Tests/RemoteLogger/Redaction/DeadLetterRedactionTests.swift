import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// The goal of redaction for the dead-letter file: it never contains six bytes of a secret, of any origin.
@Suite struct DeadLetterRedactionTests {
    @Test func `no secret reaches the dead letters, neither from a record nor from what the receiver repeats`() async throws {
        var secrets = SampleSecrets(seed: 11)
        let samples = secrets.all()
        let disk = MemoryDisk()
        let letters = DeadLetters(file: URL(filePath: "/dead/refused.ndjson"), maximumBytes: 64 << 20, files: disk.files)
        // Echoes rejected records, as receivers do.
        let receiver = StubReceiver { number, _ in .status(404, body: "refused: \(samples[number % samples.count].phrase)") }
        let harness = try Harness(receiver, format: RefusableFormat()) { settings in
            settings.deadLetters = letters
            settings.batch.records = 1
        }
        for (number, sample) in samples.enumerated() {
            let encoded = Data(sample.phrase.utf8).base64EncodedString()
            switch number % 4 {
            case 0: harness.logger.info("It was \(sample.phrase)", ["password": sample.secret])
            case 1: harness.logger.info("m", ["outer": ["list": ["first", sample.phrase]] as LogMetadata])
            case 2: harness.logger.error("m", error: TransportError(.other, "refused: \(sample.phrase)"))
            default: harness.logger.with(["context": "payload \(encoded)"]).info("m")
            }
        }
        #expect(await harness.shipper.flush(within: .seconds(60)) == false)
        #expect(letters.written == UInt64(samples.count) && letters.lost == 0)
        let file = disk["/dead/refused.ndjson"] ?? []
        let lines = Data(file).split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == samples.count)
        // The lines without the random ids, which may contain any six digits; and the same with all Base64 texts decoded.
        var visible: Set<UInt64> = []
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: line) as? [String: Any]
            let id = try #require((object?["record"] as? [String: Any])?["id"] as? String)
            let text = String(decoding: line, as: UTF8.self).replacing(id, with: "")
            visible.formUnion(SecretLeaks.runs(of: text.utf8))
            for run in text.split(whereSeparator: { !($0.isASCII && ($0.isLetter || $0.isNumber) || "+/".contains($0)) })
            where run.count >= 16 {
                if let data = Data(base64Encoded: String(run.prefix(run.count / 4 * 4))) { visible.formUnion(SecretLeaks.runs(of: data)) }
            }
        }
        let leaks = samples.filter { !SecretLeaks.runs(of: $0.secret.utf8).isDisjoint(with: visible) }
        #expect(leaks.isEmpty, "\(leaks.prefix(10).map(\.kind))")
        harness.expectConservation()
    }

    @Test(arguments: 0..<50) func `a secret that the end of what is read cuts isn't shown in part`(shift: Int) {
        let token = "eyJhbGciOiJIUzI1NiJ9." + String(repeating: "eyJzdWIiOiIxMjM0NTY3ODkwIn0", count: 100) + ".dozjgNryP4J3jVmNHl0w5N"
        // Each possible bound cuts some of these.
        for end in [4_096, 8_192] {
            let length = end - shift
            var text = token
            while text.utf8.count < length - token.utf8.count - 1 { text += " " + token }
            text += String(repeating: " ", count: length - text.utf8.count) + "gh" + "p_0123456789abcdefghijABCDEFGHIJ012345 was refused"
            let answer = ReceiverAnswer(status: 404, body: Data(text.utf8), records: 1)
            #expect(!answer.excerpt.contains("gh" + "p_"), "\(answer.excerpt)")
        }
    }

    @Test(arguments: 150...200) func `a secret that the end of an excerpt cuts isn't shown in part`(length: Int) {
        let text = String(repeating: "x ", count: length / 2) + "gh" + "p_0123456789abcdefghijABCDEFGHIJ012345 was refused"
        let answer = ReceiverAnswer(status: 404, body: Data(text.utf8), records: 1)
        #expect(!answer.excerpt.contains("gh" + "p_"))
        let body =
            "{\"errors\":true,\"items\":[{\"create\":{\"status\":400,\"error\":{\"reason\":\"\(String(repeating: "y ", count: 50))\(text)\"}}}]}"
        let verdict = ElasticsearchFormat(index: "a").judge(ReceiverAnswer(status: 200, body: Data(body.utf8), records: 1))
        guard case .each(let verdicts) = verdict, case .rejected(let reason) = verdicts.first else {
            Issue.record("\(verdict)")
            return
        }
        #expect(!reason.contains("gh" + "p_") && reason.hasPrefix("y y"))
    }
}

extension SampleSecrets.Sample {
    /// The secret in the last of the texts around it.
    fileprivate var phrase: String { (texts.last ?? "%@").replacing("%@", with: secret) }
}
