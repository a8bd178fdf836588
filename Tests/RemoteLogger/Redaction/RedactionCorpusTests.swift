import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// The goal of redaction: two hundred secrets in all places, and no six bytes of one in the logger's output.
@Suite struct RedactionCorpusTests {
    /// The forms in which the secret must not appear: plain, in lower and upper case, percent-encoded, escaped as JSON, in Base64 of any
    /// alignment.
    private static func forms(of text: String) -> [String] {
        let unreserved = CharacterSet.alphanumerics
        let percent = text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
        let twice = percent.addingPercentEncoding(withAllowedCharacters: unreserved) ?? percent
        let json = "{\"request\":\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\"}"
        let encoded = ["", ">", "> "].map { Data(($0 + text).utf8).base64EncodedString() }
        let nested = Data("{\"inner\":\"\(encoded[0])\"}".utf8).base64EncodedString()
        return [text, percent, twice, json, "payload " + encoded[0], encoded[1], "data:text/plain;base64," + encoded[2], nested]
    }

    /// The bytes without the records' ids, whose random digits sometimes equal six of a random secret.
    private static func without(_ ids: Set<String>, _ bytes: Data) -> Data {
        let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        var rest = Data()
        var word: [UInt8] = []
        func endWord() {
            if word.count != 32 || !ids.contains(String(decoding: word, as: UTF8.self)) { rest += word }
            word.removeAll()
        }
        for byte in bytes {
            if isDigit(byte) {
                word.append(byte)
            } else {
                endWord()
                rest.append(byte)
            }
        }
        endWord()
        return rest
    }

    @Test(arguments: [1] as [UInt64])
    func `no form of a secret stays in a text`(seed: UInt64) {
        var secrets = SampleSecrets(seed: seed)
        let samples = secrets.all()
        #expect(samples.count >= 200)
        var leaks: [String] = []
        var tried = 0
        var kinds: Set<String> = []
        for sample in samples {
            // The first of each kind in all forms, the others in one form per text.
            let isFirst = kinds.insert(sample.kind).inserted
            for (place, text) in sample.texts.enumerated() {
                let forms = Self.forms(of: text.replacing("%@", with: sample.secret))
                let one = (tried + place) % forms.count
                tried += 1
                for form in isFirst ? forms[...] : forms[one...one] {
                    let masked = LogRedaction.standard.masked(form)
                    if let leak = SecretLeaks.leak(of: sample.secret, in: masked) {
                        leaks.append("\(sample.kind): \"\(leak)\" of \(form) in \(masked)")
                    }
                }
            }
        }
        #expect(leaks.isEmpty, "\(leaks.count): \(leaks.prefix(12).joined(separator: "\n"))")
    }

    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    @Test func `no secret reaches spool, wire, console, or what the shipper says`() async throws {
        var secrets = SampleSecrets(seed: 7)
        let samples = secrets.all()
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        let events = Locked<[String]>([])
        let receiver = StubReceiver { number, request in
            // A receiver that echoes its input.
            let body = String(decoding: (request.body?.data ?? Data()).prefix(150), as: UTF8.self)
            return number % 5 == 0 ? .status(400, body: body) : .status(200)
        }
        var settings = SpoolSettings()
        settings.clock = clock
        let spool = Spool(root: "/spool", settings: settings, files: disk.files)
        let shipper = try LogShipper(to: Harness.endpoint(), format: OTLPFormat(), transport: receiver) { settings in
            settings.compression = .none
            settings.clock = clock
            settings.spool = spool
            settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
        }
        let lines = Locked<[String]>([])
        let console = ConsoleSink { line in lines.withLock { $0.append(line) } }
        let all = CollectingSink()
        let logger = RemoteLogger(label: "test", pipeline: LogPipeline(sinks: [shipper, console, all], clock: clock), minimumLevel: .trace)
        for (number, sample) in samples.enumerated() {
            let text = sample.texts[number / 6 % sample.texts.count].replacing("%@", with: sample.secret)
            let forms = Self.forms(of: text)
            let form = forms[number % forms.count]
            switch number % 6 {
            case 0: logger.info("It was \(form)")
            case 1: logger.info("m", ["value": form, "n": number])
            case 2: logger.info("m", ["outer": ["list": ["first", form]] as LogMetadata])
            case 3: logger.error("m", error: Refusal(description: "refused: \(form)"))
            case 4: logger.with(["context": form]).info("m", ["bytes": Data(text.utf8)])
            default: logger.info("m", ["password": sample.secret, "X-Api-Key": [sample.secret], form: 1])
            }
            if number % 40 == 0 { _ = await spool.sync() }
        }
        _ = await spool.sync()
        let onDisk = disk.paths.reduce(Data()) { $0 + Data(disk[$1] ?? []) }
        #expect(onDisk.count > 20_000, "they were on disk")
        #expect(await clock.run { shipper.statistics.buffered == 0 })
        _ = await console.flush(within: .seconds(60))
        var artefacts: [(String, Data)] = [("spool", onDisk), ("wire", receiver.bodies.reduce(Data(), +))]
        artefacts.append(("console", Data(lines.withLock { $0 }.joined().utf8)))
        artefacts.append(("diagnostics", Data(events.withLock { $0 }.joined(separator: "\n").utf8)))
        let ids = Set(all.records.map(\.id.description))
        #expect(ids.count >= samples.count)
        for (name, data) in artefacts {
            let visible = SecretLeaks.runs(of: SecretLeaks.visible(Self.without(ids, data)))
            let leaks = samples.compactMap { sample in SecretLeaks.leak(of: sample.secret, in: visible).map { "\(sample.kind): \($0)" } }
            #expect(leaks.isEmpty, "\(name): \(leaks.prefix(10))")
        }
    }
}
