import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import OData

/// Random batches, written and read again: by the package's own readers, and by Python's `email` and `json`.
///
/// `JUDGE_BATCHES` sets the number of batches for Python, `JUDGE_SEED` the seed.
@Suite struct BatchRoundTripTests {
    private static var python: String { ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3" }

    /// Returns random requests, single ones and groups of neighbors.
    private static func units(_ generator: inout SeededGenerator, isJSON: Bool) -> [[BatchRequest]] {
        var number = 0
        var group = 0
        let pieces = ["a", "\r\n", "\n", "--batch_x", "--changeset_x_1--", "{", "}", "\"", "é", "\u{0}", "\r", " ", "--"]
        func request(_ group: Int?) -> BatchRequest {
            number += 1
            var request = BatchRequest(
                number: number, group: group, method: ["GET", "POST", "PATCH", "DELETE"].randomElement(using: &generator) ?? "GET",
                target: "People(\(Int.random(in: 0..<99, using: &generator)))?$select=a%20b,c")
            request.headers.append("Accept", "application/json;odata.metadata=minimal")
            for index in 0..<Int.random(in: 0...2, using: &generator) {
                request.headers.append(HTTPFields.Name("X-\(index)"), "v \(index): ,")
            }
            guard request.method == "POST" || request.method == "PATCH" else { return request }
            let text = (0..<Int.random(in: 0...8, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                request.headers.append("Content-Type", "application/json")
                request.body = Data(#"{"a":\#(BatchWriter.quoted(text))}"#.utf8)
            case 1:
                request.headers.append("Content-Type", "text/plain; charset=utf-8")
                request.body = Data(text.utf8)
            default:
                request.headers.append("Content-Type", "application/octet-stream")
                request.body = Data(text.utf8) + Data([0xFF, 0x00, 0x0D])
            }
            return request
        }
        return (0..<Int.random(in: 0...6, using: &generator)).map { _ in
            guard Bool.random(using: &generator) else { return [request(nil)] }
            group += 1
            return (0..<Int.random(in: 1...4, using: &generator)).map { _ in request(group) }
        }
    }

    private static func written(_ units: [[BatchRequest]], isJSON: Bool) throws -> Data {
        // The boundary is unlike all texts in bodies, as the random one of the library is.
        var writer = BatchWriter(isJSON: isJSON, boundary: "7f0e1c")
        var data = Data()
        for unit in units { data += try writer.unit(unit) }
        return data + writer.end()
    }

    /// The requests that a parser finds in a batch, one per line.
    private static func lines(_ units: [[BatchRequest]], isJSON: Bool) -> [String] {
        units.enumerated().flatMap { index, unit in
            unit.map { request in
                let headers = request.headers.map { "\($0.name.description.lowercased())=\($0.value)" }.sorted().joined(separator: "|")
                let group = request.group == nil ? "-" : isJSON ? "group\(request.group ?? 0)" : "\(index)"
                let body = (request.body ?? Data()).map { String($0, radix: 16) }.joined(separator: ",")
                return "\(request.number) \(group) \(request.method) \(request.target) \(headers) \(body)"
            }
        }
    }

    @Test func `a written batch can be read, in any pieces`() throws {
        for seed in 0..<UInt64(Sweep.rounds(ofAll: 400)) {
            var generator = SeededGenerator(seed: seed)
            let units = Self.units(&generator, isJSON: false)
            let data = try Self.written(units, isJSON: false)
            var reader = MultipartBatchReader(boundary: "batch_7f0e1c", limit: 1 << 20)
            var read: [[BatchRequest]] = []
            var number = 0
            func take(_ part: MultipartBatchReader.Part) throws {
                func request(_ message: Result<BatchMessage, ODataBatchError>, _ group: Int?) throws -> BatchRequest {
                    let message = try message.get()
                    let words = message.startLine.split(separator: " ").map(String.init)
                    number += 1
                    #expect(message.id == "\(number)")
                    return BatchRequest(
                        number: number, group: group, method: words[0], target: words[1], headers: message.headers,
                        body: message.headers[.contentType] == nil ? nil : message.body)
                }
                switch part {
                case .message(let message): read.append([try request(message, nil)])
                case .changeSet(let messages, let fault):
                    #expect(fault == nil)
                    let group = (read.compactMap { $0.first?.group }.max() ?? 0) + 1
                    read.append(try messages.map { try request($0, group) })
                }
            }
            var rest = data[...]
            while !rest.isEmpty {
                let size = Int.random(in: 1...60, using: &generator)
                reader.feed(Data(rest.prefix(size)))
                rest = rest.dropFirst(size)
                while let part = try reader.nextPart() { try take(part) }
            }
            reader.finish()
            while let part = try reader.nextPart() { try take(part) }
            #expect(read == units, "seed \(seed)")
        }
    }

    @Test(.enabled("needs python3") { (try? await ChildProcess.run([python, "-c", "import email, json"]))?.status == 0 })
    func `Python's parsers find the same requests`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["JUDGE_BATCHES"].flatMap { Int($0) } ?? 200
        var generator = SeededGenerator(seed: environment["JUDGE_SEED"].flatMap { UInt64($0) } ?? 1)
        var input = Data()
        var expected: [String] = []
        for index in 0..<count {
            let isJSON = index % 2 == 1
            let units = Self.units(&generator, isJSON: isJSON)
            let data = try Self.written(units, isJSON: isJSON)
            input += Data("\(isJSON ? "json" : "multipart") \(data.count)\n".utf8) + data
            expected += Self.lines(units, isJSON: isJSON) + ["."]
        }
        let output = try await ChildProcess.run([Self.python, "-c", Self.program], input: input)
        #expect(output.status == 0, "\(String(decoding: output.errors, as: UTF8.self))")
        let found = String(decoding: output.output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(found.count == expected.count)
        for (found, expected) in zip(found, expected) where found != expected { #expect(found == expected) }
    }

    private static let program = #"""
        import base64, email.parser, json, sys

        def show(number, group, method, target, headers, body):
            text = '|'.join(sorted('%s=%s' % (name.lower(), value) for name, value in headers))
            sys.stdout.buffer.write(('%s %s %s %s %s %s\n' % (number, group, method, target, text, ','.join('%x' % b for b in body))).encode())

        def message(part, group):
            assert part.get_content_type() == 'application/http' and part['Content-Transfer-Encoding'] == 'binary'
            content = part.get_payload(decode=True)
            line, _, rest = content.partition(b'\r\n')
            method, target, version = line.decode().split(' ')
            assert version == 'HTTP/1.1'
            head, _, body = rest.partition(b'\r\n\r\n')
            headers = [tuple(field.decode().split(': ', 1)) for field in head.split(b'\r\n') if field]
            show(part['Content-ID'], group, method, target, headers, body)

        def multipart(data):
            parser = email.parser.BytesFeedParser()
            parser.feed(b'Content-Type: multipart/mixed; boundary=batch_7f0e1c\r\n\r\n' + data)
            whole = parser.close()
            for index, part in enumerate(whole.get_payload() if whole.is_multipart() else []):
                if part.get_content_type() == 'multipart/mixed':
                    for inner in part.get_payload(): message(inner, str(index))
                else:
                    message(part, '-')

        def structured(data):
            for request in json.loads(data)['requests']:
                headers = request.get('headers', {})
                kind = headers.get('content-type', '')
                body = request.get('body')
                if 'body' not in request: content = b''
                elif 'json' in kind: content = json.dumps(body, ensure_ascii=False, separators=(',', ':')).encode()
                elif kind.startswith('text/'): content = body.encode()
                else: content = base64.urlsafe_b64decode(body + '=' * (-len(body) % 4))
                show(request['id'], request.get('atomicityGroup', '-'), request['method'], request['url'], headers.items(), content)

        source = sys.stdin.buffer
        while True:
            head = source.readline().split()
            if not head: break
            data = source.read(int(head[1]))
            (structured if head[0] == b'json' else multipart)(data)
            sys.stdout.buffer.write(b'.\n')
        """#
}
