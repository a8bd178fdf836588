import Foundation
import Testing
import WebServiceClient

@Suite struct RawDataSerializerTests {
    @Test func `Bytes in, bytes out`() throws {
        let serializer = RawDataSerializer()
        let bytes = Data([0, 255, 13])
        #expect(serializer.contentType == "application/octet-stream")
        #expect(try serializer.encode(bytes) == bytes)
        #expect(try serializer.encode([UInt8](bytes)) == bytes)
        #expect(try serializer.decode(Data.self, from: bytes, at: [], contentType: nil) == bytes)
        #expect(try serializer.decode([UInt8].self, from: bytes, at: [], contentType: nil) == [0, 255, 13])
        #expect(try serializer.decode(Data?.self, from: bytes, at: [], contentType: nil) == bytes)
    }

    @Test func `Nothing else`() {
        let serializer = RawDataSerializer()
        #expect(throws: SerializationError.self) { try serializer.encode("text") }
        #expect(throws: SerializationError.self) { try serializer.decode(Int.self, from: Data([1]), at: [], contentType: nil) }
        #expect(throws: SerializationError.self) { try serializer.decode(Data.self, from: Data([1]), at: ["a"], contentType: nil) }
    }
}
