import Foundation
import TestSupport

extension RawConnection {
    /// Speaks HTTP/2 without TLS (RFC 9113 §3.3), as far as it takes to answer each request's head, until the client closes. Bodies are
    /// read, and no window is ever enlarged.
    ///
    /// - Parameter answer: Gets the number of the request's stream, in four bytes.
    func serveHTTP2(_ answer: (Data) -> Void) {
        guard read(24) != nil else { return }
        // SETTINGS, and the acknowledgement of the client's.
        write(Data([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]))
        while let head = read(9) {
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard read(length) != nil else { return }
            // HEADERS
            if head[3] == 1 { answer(head[5..<9]) }
        }
    }

    /// Sends the head of a response of status 200 with a length (RFC 7541 §6.1 and §6.2.2), and bytes of its body.
    func writeHTTP2(_ stream: Data, length: String, body: String, isEnd: Bool) {
        let fields = Data([0x88, 0x0F, 0x0D, UInt8(length.utf8.count)]) + Data(length.utf8)
        write(Data([0, 0, UInt8(fields.count), 1, 4]) + stream + fields)
        write(Data([0, 0, UInt8(body.utf8.count), 0, isEnd ? 1 : 0]) + stream + Data(body.utf8))
    }

    /// Ends a stream with an error code (RFC 9113 §7).
    func resetHTTP2(_ stream: Data, _ code: UInt8) {
        write(Data([0, 0, 4, 3, 0]) + stream + Data([0, 0, 0, code]))
    }
}
