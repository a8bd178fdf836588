import Foundation
import RemoteLogger
import Testing

/// The search for secrets may become quicker, and must find the same. A rule that is meant to change what is found changes the digests as
/// well: look at what else has changed before you take the new ones.
@Suite struct RedactionStabilityTests {
    /// Of 500 texts each, as they were masked before the scanner was made quicker the last time.
    private static let standard: [UInt64] = [
        0xE470_4193_39E1_6D31, 0x2420_11F9_F11A_BF67, 0xAE6D_B65C_7AC3_4C22, 0x5D62_1AAA_370B_A541, 0xE914_4D76_EA19_FC09,
        0x20FC_8B09_4DA0_4FE2, 0xA22A_24A6_AEF9_C4A1, 0xC760_C223_2D69_4CDE,
    ]
    /// The same with names and rules of its own.
    private static let own: [UInt64] = [
        0xEFBE_E2F3_991D_41EA, 0x0CF6_7879_E41A_4AE4, 0x89DD_420E_ABF7_48DC, 0x07FB_36C9_3B03_73A9, 0xB87C_198C_D212_280C,
        0x97AA_F78B_764A_C4D5, 0x2C75_B618_3F9A_AD5E, 0xD08C_6442_EE29_8C5E,
    ]

    /// FNV-1a of all texts of a seed, masked.
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
