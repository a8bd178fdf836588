import Foundation

/// A frame of a WebSocket (RFC 6455 §5.2).
package struct WebSocketFrame: Sendable, Hashable {
    /// The meaning of a frame.
    package enum Opcode: UInt8, Sendable {
        case continuation = 0x0
        case text = 0x1
        case binary = 0x2
        case close = 0x8
        case ping = 0x9
        case pong = 0xA

        /// Whether the frame may be between the fragments of a message.
        var isControl: Bool { rawValue & 0x8 != 0 }
    }

    /// The maximum number of bytes of a control frame's payload (RFC 6455 §5.5).
    static let controlLimit = 125

    package var opcode: Opcode
    /// Whether the frame is the last one of its message.
    package var isFinal: Bool
    package var payload: [UInt8]

    package init(_ opcode: Opcode, _ payload: [UInt8] = [], isFinal: Bool = true) {
        self.opcode = opcode
        self.isFinal = isFinal
        self.payload = payload
    }

    /// A Close frame. A reason that is too long is cut at the end of a character.
    package static func close(_ code: WebSocketCloseCode?, reason: String = "") -> WebSocketFrame {
        guard let code, code.isSendable else { return WebSocketFrame(.close) }
        var payload = [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)]
        for character in reason {
            guard payload.count + character.utf8.count <= controlLimit else { break }
            payload += Array(character.utf8)
        }
        return WebSocketFrame(.close, payload)
    }

    /// The bytes of the frame.
    ///
    /// - Parameter mask: The masking key, which is random for each frame of a client; `nil` for a server's frames, which have none (§5.3).
    package func bytes(mask: UInt32?) -> [UInt8] {
        Self.bytes(opcode, payload[...], isFinal: isFinal, mask: mask)
    }

    /// The bytes of a client's frame, with a new masking key.
    static func clientBytes(_ opcode: Opcode, _ payload: ArraySlice<UInt8>, isFinal: Bool = true) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return bytes(opcode, payload, isFinal: isFinal, mask: generator.next())
    }

    private static func bytes(_ opcode: Opcode, _ payload: ArraySlice<UInt8>, isFinal: Bool, mask: UInt32?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(payload.count + 14)
        bytes.append((isFinal ? 0x80 : 0) | opcode.rawValue)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ..<126:
            bytes.append(maskBit | UInt8(payload.count))
        case ..<65_536:
            bytes.append(maskBit | 126)
            bytes.append(UInt8(payload.count >> 8))
            bytes.append(UInt8(truncatingIfNeeded: payload.count))
        default:
            bytes.append(maskBit | 127)
            let length = UInt64(payload.count)
            for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
        }
        guard let mask else {
            bytes += payload
            return bytes
        }
        let key = WebSocketMask(mask)
        bytes += key.bytes
        let start = bytes.count
        bytes += payload
        bytes.withUnsafeMutableBytes { key.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
        return bytes
    }
}

/// A masking key (RFC 6455 §5.3): it keeps a malicious page from choosing the bytes on the wire, which a proxy might take for HTTP.
struct WebSocketMask: Sendable, Hashable {
    /// The four bytes of the key.
    let bytes: [UInt8]

    init(_ key: UInt32) {
        bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: key >> $0) }
    }

    init(bytes: ArraySlice<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Masks bytes, or unmasks them, which is the same.
    ///
    /// - Parameter offset: The number of bytes of the payload before these.
    func apply(to payload: UnsafeMutableRawBufferPointer, at offset: Int = 0) {
        guard bytes.count == 4 else { return }
        var word: UInt64 = 0
        for index in 0..<8 { word |= UInt64(bytes[(offset &+ index) & 3]) << UInt64(8 * index) }
        let little = word.littleEndian
        var index = 0
        while index + 8 <= payload.count {
            let value = payload.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            payload.storeBytes(of: value ^ little, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < payload.count {
            payload[index] ^= bytes[(offset &+ index) & 3]
            index += 1
        }
    }
}
