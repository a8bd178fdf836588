import Foundation
import RemoteLogger
import Testing

/// Optimizations of the search must find the same secrets. A rule that changes the findings changes the digests, too: check what else has
/// changed before you accept new ones.
@Suite struct RedactionStabilityTests {
    /// Digests of 500 texts each. One text of the first seed has an element within a `<password>` element, which is masked as a whole.
    private static let standard: [UInt64] = [
        0x770B_4AAE_1672_5905, 0x2420_11F9_F11A_BF67, 0xAE6D_B65C_7AC3_4C22, 0x5D62_1AAA_370B_A541,
    ]
    /// The same with additional names and rules.
    private static let own: [UInt64] = [
        0x6CB2_DEE0_E74D_A8BE, 0x0CF6_7879_E41A_4AE4, 0x89DD_420E_ABF7_48DC, 0x07FB_36C9_3B03_73A9,
    ]

    /// The FNV-1a digest of all masked texts of a seed.
    private static func digest(_ seed: Int, _ redaction: LogRedaction) -> (digest: UInt64, masked: Int) {
        var texts = MixedTexts(seed: UInt64(seed))
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        var count = 0
        for _ in 0..<500 {
            let text = texts.next()
            let masked = redaction.masked(text)
            count += masked == text ? 0 : 1
            for byte in masked.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        return (digest, count)
    }

    @Test(arguments: Array(standard.indices)) func `what is masked of texts of all kinds is what was masked before`(index: Int) {
        let (digest, masked) = Self.digest(index + 1, .standard)
        #expect(digest == Self.standard[index])
        #expect((100...400).contains(masked), "some have secrets, and some don't")
    }

    @Test(arguments: Array(own.indices)) func `so is what is masked by own names and rules`(index: Int) {
        let rules = RedactionRule.standard + [.prefix("acme_", atLeast: 8), .emailAddresses]
        #expect(Self.digest(index + 1, LogRedaction(alsoHiding: ["Order"], exceptFor: ["code"], rules: rules)).digest == Self.own[index])
    }
}
