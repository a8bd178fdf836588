import Foundation
import WebServiceClient

/// Sends responses, valid or not, and counts their bytes to trigger faults.
struct ResponseWriter {
    let socket: LoopbackSocket
    /// The number of bytes left before the fault; `nil` if there is none.
    private var budget: Int?

    init(socket: LoopbackSocket) {
        self.socket = socket
    }

    /// Sends the interim response that lets the client send its body.
    mutating func sendContinue() throws(ConnectionEnd) {
        try send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }

    /// Sends a response. Returns true if the connection can stay open.
    mutating func send(_ response: LoopbackResponse, to request: LoopbackRequest?, keepingConnection: Bool) throws -> Bool {
        budget = response.fault?.byteCount
        if response.delay > .zero { try socket.pause(until: .now + response.delay.bounded) }
        if budget == 0 { throw ConnectionEnd.faultReached }
        switch response.body {
        case .hang:
            try socket.pause(until: nil)
            return false
        case .raw(let bytes):
            try send(bytes)
            return false
        default: break
        }
        for interim in response.informational {
            try send(Self.head(interim.status, ReasonPhrase.of(interim.status), interim.fields))
        }
        let plan = try FramingPlan(response: response, request: request, keepingConnection: keepingConnection)
        try send(Self.head(response.status, response.reason ?? ReasonPhrase.of(response.status), plan.fields))
        if plan.hasBody {
            try sendBody(response.body, inChunks: plan.isChunked)
            if plan.isChunked { try send(Array("0\r\n".utf8) + Self.lines(response.trailers) + [13, 10]) }
        }
        // The fault also ends a response that is shorter than its byte count.
        if let fault = response.fault, fault != .halfClose { throw ConnectionEnd.faultReached }
        return plan.keepsConnection
    }

    // MARK: Bodies

    private mutating func sendBody(_ body: LoopbackResponse.Body, inChunks isChunked: Bool) throws {
        switch body {
        case .empty, .raw, .hang, .script: break
        case .data(let data): try sendPart(data, inChunks: isChunked)
        case .pieces(let pieces):
            for piece in pieces {
                if piece.delay > .zero { try socket.pause(until: .now + piece.delay.bounded) }
                try sendPart(piece.data, inChunks: isChunked)
            }
        case .drip(let data, let interval):
            while true {
                try sendPart(data, inChunks: isChunked)
                try socket.pause(until: .now + interval.bounded)
            }
        case .file(let url):
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            while let part = try file.read(upToCount: 256 << 10), !part.isEmpty { try sendPart(part, inChunks: isChunked) }
        case .generated(let count):
            // The part's length is a multiple of 251, so all parts but the last are equal.
            let part = Data((0..<(251 * 256)).map(LoopbackResponse.Body.generatedByte(at:)))
            var missing = count
            while missing > 0 {
                try sendPart(missing < part.count ? part.prefix(missing) : part, inChunks: isChunked)
                missing -= part.count
            }
        }
    }

    private mutating func sendPart(_ data: Data, inChunks isChunked: Bool) throws(ConnectionEnd) {
        guard !data.isEmpty else { return }
        if isChunked { try send(Array("\(String(data.count, radix: 16))\r\n".utf8)) }
        try send(data)
        if isChunked { try send([13, 10]) }
    }

    // MARK: Bytes

    private mutating func send(_ bytes: some Collection<UInt8> & ContiguousBytes) throws(ConnectionEnd) {
        let count = min(bytes.count, budget ?? .max)
        let socket = self.socket
        let sent = bytes.withUnsafeBytes { all in
            Result { () throws(ConnectionEnd) in try socket.send(UnsafeRawBufferPointer(rebasing: all.prefix(count))) }
        }
        try sent.get()
        guard let limit = budget else { return }
        budget = limit - count
        if limit == count { throw .faultReached }
    }

    private static func head(_ status: Int, _ reason: String, _ fields: LoopbackFields) -> [UInt8] {
        var head = Array("HTTP/1.1 \(status) \(reason)\r\n".utf8)
        head += lines(fields)
        head += [13, 10]
        return head
    }

    private static func lines(_ fields: LoopbackFields) -> [UInt8] {
        fields.reduce(into: []) { lines, field in
            lines += field.nameBytes
            lines += Array(": ".utf8)
            lines += field.valueBytes
            lines += [13, 10]
        }
    }
}
